import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import {
  type Call,
  createHandler,
  type Endpoint,
  type HandlerOptions,
  HttpError,
  json,
  type Principal,
  type Route,
  sseResponse,
} from '../../src/core/http/index.ts'
import { turns } from '../kit/wait.ts'

function request(path: string, init?: RequestInit): Request {
  return new Request(`http://host${path}`, init)
}

/** A handler of one GET route, and the calls that its endpoint got. */
function probe(options: Partial<HandlerOptions> = {}) {
  const calls: Call[] = []
  const endpoint: Endpoint = (call) => {
    calls.push(call)
    return json({ ok: true })
  }
  const handler = createHandler({ routes: [['GET', '/things/:id', endpoint]], ...options })
  return { ...handler, calls }
}

function serve(endpoint: Endpoint, options: Partial<HandlerOptions> = {}) {
  const routes: Route[] = [
    ['GET', '/', endpoint],
    ['POST', '/', endpoint],
  ]
  return createHandler({ routes, ...options })
}

describe('a route', () => {
  test('gets the call', async () => {
    const { fetch, calls } = probe()
    const sent = request('/things/a%2Fb?x=1')
    expect(await (await fetch(sent)).json()).toEqual({ ok: true })
    expect(calls[0]).toMatchObject({ request: sent, params: { id: 'a/b' }, principal: null })
    expect(calls[0]!.url.searchParams.get('x')).toBe('1')
    expect(calls[0]!.signal).toBe(sent.signal)
  })

  test('is found below the base path, and that of the host comes first', async () => {
    const { handle, calls } = probe({ basePath: '/api' })
    expect(await handle(request('/things/1'))).toBeUndefined()
    expect(await handle(request('/apis/things/1'))).toBeUndefined()
    expect((await handle(request('/api/things/1')))?.status).toBe(200)
    expect((await handle(request('/mount/things/1'), { basePath: '/mount' }))?.status).toBe(200)
    expect((await handle(request('/api/things/1'), { basePath: '' }))?.status).toBe(200)
    expect(await handle(request('/api/things/1'), { basePath: '/mount' })).toBeUndefined()
    expect(calls).toHaveLength(3)
  })

  test('gets the signal of the host rather than that of the request', async () => {
    const { fetch, calls } = probe()
    const { signal } = new AbortController()
    await fetch(request('/things/1'), { signal })
    expect(calls[0]!.signal).toBe(signal)
  })

  test('reads its body once', async () => {
    const handler = serve(async (call) => {
      const [first, second] = [call.json(), call.json()]
      expect(first).toBe(second)
      return json(await first)
    })
    const response = await handler.fetch(request('/', { method: 'POST', body: '{"a":1}' }))
    expect(await response.json()).toEqual({ a: 1 })
  })

  test('gets the body that the host has parsed, and its own byte limit', async () => {
    const echo = serve(async (call) => json(await call.json()), { maxBodyBytes: 4 })
    const parsed = await echo.fetch(request('/', { method: 'POST' }), { parsedBody: { long: 'enough' } })
    expect(await parsed.json()).toEqual({ long: 'enough' })
    const large = await echo.fetch(request('/', { method: 'POST', body: '12345' }))
    expect([large.status, (await large.json()).error]).toEqual([413, 'payload_too_large'])
  })

  test('gives background work to the host, and its failure is reported and never unhandled', async () => {
    const onError = vi.fn()
    const lost = new Error('lost')
    const handler = serve(
      (call) => {
        call.waitUntil(Promise.reject(lost))
        return json({})
      },
      { onError },
    )
    const kept: Promise<unknown>[] = []
    await handler.fetch(request('/'), { waitUntil: (work) => kept.push(work) })
    await handler.fetch(request('/'))
    await Promise.all(kept)
    expect(kept).toHaveLength(1)
    expect(onError).toHaveBeenCalledTimes(2)
    expect(onError).toHaveBeenCalledWith(lost, { id: expect.any(String) })
  })
})

describe('a request without a route', () => {
  test('is undefined for handle and 404 for fetch', async () => {
    const { handle, fetch } = probe()
    expect(await handle(request('/nothing'))).toBeUndefined()
    const response = await fetch(request('/nothing'))
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ error: 'not_found', message: expect.any(String) })
  })

  test.each([
    [undefined, undefined, '/things'],
    ['api', undefined, '/api/things'],
    ['/api/', undefined, '/api/things'],
    ['/api', '/mount', '/mount/things'],
  ])('is told where there are some: basePath %j, host %j', async (basePath, host, place) => {
    for (const path of ['/x/secret?token=secret', '/things/1/secret', '/%3Cscript%3Esecret']) {
      const response = await probe({ basePath }).fetch(request(path), { basePath: host })
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json'])
      const { message } = await response.json()
      expect(message).toBe(`No route matches this path. agentwire serves ${place} here.`)
    }
  })

  test('mentions basePath if a prefix precedes a path that is served', async () => {
    const messageOf = async (path: string) => (await (await probe().fetch(request(path))).json()).message
    const told = 'No route matches this path. agentwire serves /things here.'
    expect(await messageOf('/mount/things/1')).toBe(`${told} Pass the path before it as basePath.`)
    expect(await messageOf('/things/1/things')).toBe(told)
  })

  test('for its method is answered 405 with Allow', async () => {
    const response = await probe().fetch(request('/things/1', { method: 'DELETE' }))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(await response.json()).toMatchObject({ error: 'method_not_allowed' })
  })

  test('OPTIONS is answered 204 with Allow and without authentication', async () => {
    const authenticate = vi.fn(() => null)
    const response = await probe({ authenticate }).fetch(request('/things/1', { method: 'OPTIONS' }))
    expect([response.status, response.headers.get('allow'), response.body]).toEqual([
      204,
      'GET, HEAD, OPTIONS',
      null,
    ])
    expect(authenticate).not.toHaveBeenCalled()
  })

  test('with a malformed escape is answered 400', async () => {
    const response = await probe().fetch(request('/things/%zz'))
    expect([response.status, (await response.json()).error]).toEqual([400, 'invalid_path'])
  })
})

describe('HEAD', () => {
  test('runs the GET endpoint and sends its headers only', async () => {
    const { fetch, calls } = probe()
    const response = await fetch(request('/things/1', { method: 'HEAD' }))
    expect([response.status, response.body, response.headers.get('content-length')]).toEqual([
      200,
      null,
      '11',
    ])
    expect(calls).toHaveLength(1)
  })

  test('cancels a stream without reading its source', async () => {
    const source = { next: vi.fn(async () => new Uint8Array(1)), cancel: vi.fn() }
    const { fetch } = serve(() => sseResponse(source))
    const response = await fetch(request('/', { method: 'HEAD' }))
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(response.body).toBeNull()
    expect(source.cancel).toHaveBeenCalledOnce()
    expect(source.next).not.toHaveBeenCalled()
  })

  test('tolerates a body that cannot be cancelled', async () => {
    const { fetch } = serve(() => {
      const response = json({})
      response.body?.getReader()
      return response
    })
    expect((await fetch(request('/', { method: 'HEAD' }))).status).toBe(200)
    await turns()
  })
})

describe('authentication', () => {
  const alice: Principal = { id: 'alice', tenant: 'acme' }

  test('gives the principal to the endpoint', async () => {
    const { fetch, calls } = probe({ authenticate: async () => alice })
    await fetch(request('/things/1'))
    expect(calls[0]!.principal).toBe(alice)
  })

  test('is left to a host that has done it', async () => {
    const authenticate = vi.fn(() => null)
    const { fetch, calls } = probe({ authenticate })
    expect((await fetch(request('/things/1'), { principal: alice })).status).toBe(200)
    expect(calls[0]!.principal).toBe(alice)
    expect(authenticate).not.toHaveBeenCalled()
  })

  test('is not asked for at a public route, where only the host may know the caller', async () => {
    const authenticate = vi.fn(() => null)
    const principals: (Principal | null)[] = []
    const endpoint: Endpoint = ({ principal }) => {
      principals.push(principal)
      return json(null)
    }
    const { fetch } = createHandler({ routes: [['GET', '/', endpoint, 'public']], authenticate })
    expect((await fetch(request('/'))).status).toBe(200)
    expect((await fetch(request('/', { method: 'HEAD' }))).status).toBe(200)
    expect((await fetch(request('/'), { principal: alice })).status).toBe(200)
    expect(principals).toEqual([null, null, alice])
    expect(authenticate).not.toHaveBeenCalled()
  })

  test.each([null, undefined])('that gives %s is answered 401', async (nobody) => {
    const { fetch, calls } = probe({ authenticate: () => nobody as null })
    const response = await fetch(request('/things/1'))
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await response.json()).toMatchObject({ error: 'unauthorized' })
    expect(calls).toEqual([])
  })

  test('may answer by itself', async () => {
    const own = new Response('later', { status: 429 })
    const { fetch, calls } = probe({ authenticate: () => own })
    expect(await fetch(request('/things/1'))).toBe(own)
    expect(calls).toEqual([])
  })

  test('that throws is answered 500 without details', async () => {
    const onError = vi.fn()
    const failure = new Error('key=hunter2')
    const { fetch, calls } = probe({ authenticate: () => Promise.reject(failure), onError })
    const response = await fetch(request('/things/1'))
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('hunter2')
    expect(onError).toHaveBeenCalledExactlyOnceWith(failure, { id: expect.any(String) })
    expect(calls).toEqual([])
  })

  test.each([{}, { id: '' }, { id: 7 }, true, 'alice'])('that gives %j lets nobody in', async (odd) => {
    const { fetch, calls } = probe({ authenticate: () => odd as unknown as Principal })
    expect((await fetch(request('/things/1'))).status).toBe(500)
    expect(
      (await probe().fetch(request('/things/1'), { principal: odd as unknown as Principal })).status,
    ).toBe(500)
    expect(calls).toEqual([])
  })

  test('is not called for a path of the host', async () => {
    const authenticate = vi.fn(() => null)
    expect(await probe({ authenticate }).handle(request('/elsewhere'))).toBeUndefined()
    expect(authenticate).not.toHaveBeenCalled()
  })
})

describe('errors of a handler', () => {
  const encodeError: HandlerOptions['encodeError'] = (error, call) => {
    if (!(error instanceof HttpError)) return undefined
    const body = { detail: error.message, path: call?.url.pathname }
    return json(body, { status: error.status, headers: error.headers })
  }

  test('take the shape of the protocol, those of the handler as well', async () => {
    const teapot = () => {
      throw new HttpError(418, 'teapot', 'Short.')
    }
    const { fetch } = serve(teapot, { encodeError })
    const thrown = await fetch(request('/'))
    expect([thrown.status, await thrown.json()]).toEqual([418, { detail: 'Short.', path: '/' }])
    const missing = await fetch(request('/nothing'))
    expect([missing.status, await missing.json()]).toEqual([404, { detail: expect.any(String) }])
    const refused = await fetch(request('/', { method: 'PUT' }))
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD, OPTIONS'])
  })

  test('fall back to the default shape', async () => {
    const { fetch } = serve(() => Promise.reject(new Error('x')), { encodeError })
    expect(await (await fetch(request('/'))).json()).toMatchObject({ error: 'internal_error' })
  })

  test('that cannot be encoded are both reported', async () => {
    const first = new Error('first')
    const second = new Error('second')
    const onError = vi.fn()
    const { fetch } = serve(() => Promise.reject(first), {
      onError,
      encodeError: () => {
        throw second
      },
    })
    expect((await fetch(request('/'))).status).toBe(500)
    expect(onError.mock.calls.map(([error]) => error)).toEqual([
      first,
      expect.objectContaining({ cause: second }),
    ])
  })

  test('are reported with the thread, the run and the id of the request, where the route and the request name them', async () => {
    const onError = vi.fn()
    const lost = new Error('lost')
    const fail = () => Promise.reject(lost)
    const { fetch } = createHandler({
      routes: [
        ['GET', '/plain', fail],
        ['GET', '/threads/:thread_id/runs/:run_id', fail],
      ],
      onError,
    })
    const { id } = await (await fetch(request('/plain'))).json()
    const of = await fetch(request('/threads/t%201/runs/r', { headers: { 'x-request-id': 'q-1' } }))
    expect(onError.mock.calls).toStrictEqual([
      [lost, { id }],
      [lost, { id: (await of.json()).id, threadId: 't 1', runId: 'r', requestId: 'q-1' }],
    ])
  })

  test('with a status or headers that cannot be sent are answered 500', async () => {
    for (const error of [
      new HttpError(99, 'x', ''),
      new HttpError(400, 'x', '', { headers: { 'x-bad': 'a\nb' } }),
    ]) {
      expect((await serve(() => Promise.reject(error)).fetch(request('/'))).status).toBe(500)
    }
  })

  test('of any kind, in any place, never make fetch or handle throw or reject', async () => {
    const thrown = fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true })
    const place = fc.constantFrom('endpoint', 'async endpoint', 'authenticate', 'encodeError', 'onError')
    await fc.assert(
      fc.asyncProperty(
        thrown,
        place,
        fc.constantFrom('GET', 'POST', 'HEAD', 'PUT'),
        async (value, where, method) => {
          const raise = () => {
            throw value
          }
          const endpoints: Record<string, Endpoint> = {
            endpoint: raise,
            'async endpoint': () => Promise.reject(value),
          }
          const hidden = new Error('hunter2')
          const handler = serve(endpoints[where] ?? (() => Promise.reject(hidden)), {
            authenticate: where === 'authenticate' ? raise : () => ({ id: 'a' }),
            encodeError: where === 'encodeError' ? raise : undefined,
            onError: where === 'onError' ? raise : undefined,
          })
          const response = await handler.fetch(request('/', { method }))
          expect(response.status).toBe(method === 'PUT' && where !== 'encodeError' ? 405 : 500)
          expect(await response.text()).not.toContain('hunter2')
          expect(await handler.handle(request('/', { method }))).toBeInstanceOf(Response)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('do not come from a context of another shape', async () => {
    const { fetch } = probe()
    for (const context of [null, 7, 'env', {}]) {
      expect(await fetch(request('/things/1'), context as object)).toBeInstanceOf(Response)
    }
  })
})

describe('close', () => {
  test('refuses later requests to its routes with 503, and no others', async () => {
    const { handle, close, calls } = probe()
    await close()
    expect((await handle(request('/things/1')))?.status).toBe(503)
    expect(await handle(request('/elsewhere'))).toBeUndefined()
    expect(calls).toEqual([])
  })

  test('runs onClose once and waits for it', async () => {
    let finish = () => {}
    const onClose = vi.fn(() => new Promise<void>((resolve) => void (finish = resolve)))
    const { close } = probe({ onClose })
    const closing = Promise.all([close(), close()])
    await expect.poll(() => onClose).toHaveBeenCalled()
    expect(await Promise.race([closing, 'waiting'])).toBe('waiting')
    finish()
    await closing
    await close()
    expect(onClose).toHaveBeenCalledOnce()
  })
})
