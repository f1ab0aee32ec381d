import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createRouter,
  type Endpoint,
  HttpError,
  type Match,
  type Method,
  type Route,
  stripBase,
} from '../../src/core/http/index.ts'
import { anyCharacter } from '../kit/arbitraries.ts'

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** A route whose endpoint answers with its pattern. */
function route(method: Method, pattern: string): Route {
  return [method, pattern, () => new Response(`${method} ${pattern}`)]
}

function table(...lines: readonly string[]) {
  const routes = lines.map((line) => {
    const [method, pattern] = line.split(' ') as [Method, string]
    return route(method, pattern)
  })
  const router = createRouter(routes)
  const names = new Map<Endpoint, string>(routes.map((row, index) => [row[2], lines[index]!]))
  return (method: string, pathname: string) => describeMatch(router.match(method, pathname), names)
}

function describeMatch(match: Match, names: ReadonlyMap<Endpoint, string>) {
  if (match.kind === 'endpoint') return { route: names.get(match.endpoint), params: { ...match.params } }
  return match.kind === 'method' ? { allow: [...match.allow].sort() } : undefined
}

describe('createRouter', () => {
  test('puts a static segment before a parameter', () => {
    const match = table(
      'GET /threads/:thread_id',
      'GET /threads/search',
      'GET /threads/:id/state/:checkpoint_id',
    )
    expect(match('GET', '/threads/search')).toEqual({ route: 'GET /threads/search', params: {} })
    expect(match('GET', '/threads/t1')).toEqual({
      route: 'GET /threads/:thread_id',
      params: { thread_id: 't1' },
    })
    expect(match('GET', '/threads/search/state/c1')).toEqual({
      route: 'GET /threads/:id/state/:checkpoint_id',
      params: { id: 'search', checkpoint_id: 'c1' },
    })
  })

  test('falls back to a parameter when the static route lacks the method', () => {
    const match = table('POST /assistants/search', 'GET /assistants/:id', 'DELETE /assistants/:id')
    expect(match('GET', '/assistants/search')).toEqual({
      route: 'GET /assistants/:id',
      params: { id: 'search' },
    })
    expect(match('PUT', '/assistants/search')).toEqual({
      allow: ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST'],
    })
    expect(match('PUT', '/assistants/a')).toEqual({ allow: ['DELETE', 'GET', 'HEAD', 'OPTIONS'] })
  })

  test('answers HEAD by GET only', () => {
    const match = table('GET /a', 'POST /b')
    expect(match('HEAD', '/a')).toEqual({ route: 'GET /a', params: {} })
    expect(match('HEAD', '/b')).toEqual({ allow: ['OPTIONS', 'POST'] })
    expect(match('OPTIONS', '/a')).toEqual({ allow: ['GET', 'HEAD', 'OPTIONS'] })
    expect(match('BREW', '/a')).toEqual({ allow: ['GET', 'HEAD', 'OPTIONS'] })
  })

  test('tolerates one trailing slash and no empty segment', () => {
    const match = table('GET /', 'GET /a/:id')
    expect(match('GET', '')).toEqual({ route: 'GET /', params: {} })
    expect(match('GET', '/')).toEqual({ route: 'GET /', params: {} })
    expect(match('GET', '/a/1/')).toEqual({ route: 'GET /a/:id', params: { id: '1' } })
    for (const path of ['//', '/a', '/a/', '/a//', '/a/1//', '//a/1', '/a//1', '/a/1/2']) {
      expect(match('GET', path), path).toBeUndefined()
    }
  })

  test('decodes a parameter once, after the match', () => {
    const match = table('GET /a/:id')
    expect(match('GET', '/a/a%2Fb')).toEqual({ route: 'GET /a/:id', params: { id: 'a/b' } })
    expect(match('GET', '/a/%252F')).toEqual({ route: 'GET /a/:id', params: { id: '%2F' } })
    expect(match('GET', '/a/%00')).toEqual({ route: 'GET /a/:id', params: { id: '\0' } })
    expect(match('GET', '/b/%zz')).toBeUndefined()
    for (const path of ['/a/%', '/a/%zz', '/a/%ff', '/a/%c3%28']) {
      expect(() => match('GET', path)).toThrow(expect.objectContaining({ status: 400, code: 'invalid_path' }))
    }
  })

  test('keeps odd names and ids as plain keys', () => {
    const router = createRouter([route('GET', '/:__proto__/:constructor')])
    const match = router.match('GET', '/__proto__/x')
    if (match.kind !== 'endpoint') throw new Error('no match')
    expect(Object.getPrototypeOf(match.params)).toBeNull()
    expect(Object.entries(match.params)).toEqual([
      ['__proto__', '__proto__'],
      ['constructor', 'x'],
    ])
    expect(table('GET /a')('GET', '/constructor')).toBeUndefined()
  })

  test('refuses a table that contradicts itself', () => {
    expect(() => table('GET /a/:x', 'GET /a/:y')).toThrow('Two routes answer GET /a/:y')
    expect(() => table('GET a')).toThrow('must begin with "/"')
  })

  test('handles a path of ten thousand segments', () => {
    expect(table('GET /:a/:b')('GET', '/x'.repeat(10_000))).toBeUndefined()
  })

  test('agrees with a list scan', () => {
    const segment = fc.constantFrom('a', 'b', ':x', ':y')
    const pattern = fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`)
    const routes = fc.uniqueArray(fc.tuple(fc.constantFrom(...METHODS), pattern), {
      selector: ([method, text]) => `${method} ${text.replace(/:\w/g, ':')}`,
      maxLength: 12,
    })
    const path = fc
      .array(fc.constantFrom('a', 'b', 'c', '', 'a%2Fb', '%25'), { maxLength: 5 })
      .map((parts) => `/${parts.join('/')}`)
    const method = fc.constantFrom(...METHODS, 'HEAD', 'OPTIONS')
    fc.assert(
      fc.property(routes, path, method, (rows, pathname, verb) => {
        const match = table(...rows.map((row) => row.join(' ')))
        expect(match(verb, pathname)).toEqual(scan(rows, verb, pathname))
      }),
      { numRuns: 1_000 },
    )
  })
})

/** The rules of the router over a list of routes. */
function scan(rows: readonly (readonly [Method, string])[], verb: string, pathname: string) {
  const cut = (text: string) => text.replace(/\/$/, '').split('/').slice(1)
  const segments = cut(pathname)
  const fits = rows
    .map(([method, pattern]) => ({ method, pattern, parts: cut(pattern) }))
    .filter(({ parts }) => parts.length === segments.length)
    .filter(({ parts }) =>
      parts.every((part, at) => (part.startsWith(':') ? segments[at] !== '' : part === segments[at])),
    )
  const rank = ({ parts }: { parts: string[] }) =>
    parts.map((part) => (part.startsWith(':') ? 'b' : 'a')).join('')
  const [best] = fits
    .filter(({ method }) => method === (verb === 'HEAD' ? 'GET' : verb))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
  if (best !== undefined) {
    const params: Record<string, string> = {}
    for (const [at, part] of best.parts.entries()) {
      if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(segments[at]!)
    }
    return { route: `${best.method} ${best.pattern}`, params }
  }
  if (fits.length === 0) return undefined
  const methods = new Set<string>(fits.map(({ method }) => method))
  if (methods.has('GET')) methods.add('HEAD')
  return { allow: [...methods, 'OPTIONS'].sort() }
}

test('any pathname of a URL matches, misses or is refused with 400', () => {
  const { match } = createRouter([route('GET', '/a/:id/b'), route('POST', '/:x/:y')])
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (junk) => {
      const { pathname } = new URL(`http://host/a/${junk}`)
      try {
        expect(['endpoint', 'method', 'none']).toContain(match('GET', pathname).kind)
      } catch (error) {
        if (!(error instanceof HttpError) || error.status !== 400) throw error
      }
    }),
  )
})

test.each([
  ['/api/x', '/api', '/x'],
  ['/api', '/api', ''],
  ['/api/', '/api', '/'],
  ['/api/x', '/api/', '/x'],
  ['/api/x', 'api', '/x'],
  ['/apis/x', '/api', undefined],
  ['/', '/api', undefined],
  ['/x', '', '/x'],
  ['/x', '/', '/x'],
  ['/a/b/c', '/a/b', '/c'],
  ['/API/x', '/api', undefined],
])('stripBase(%j, %j) is %j', (pathname, base, rest) => {
  expect(stripBase(pathname, base)).toBe(rest)
})
