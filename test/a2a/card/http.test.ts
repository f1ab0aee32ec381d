import { createServer, request } from 'node:http'
import express from 'express'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toExpress } from '../../../adapters/express.ts'
import { toNext } from '../../../adapters/next.ts'
import { toNode } from '../../../adapters/node.ts'
import type { WebHandler } from '../../../src/core/http/index.ts'
import { openServer } from '../../kit/listen.ts'
import { askCard, type CardServerOptions, cardServer, echo, readCard, WELL_KNOWN } from './cards.ts'

const OF_ECHO = `/a2a/echo${WELL_KNOWN}`
const authenticate = (): never => {
  throw new Error('The card must not ask who the caller is.')
}

describe('the card', () => {
  test('needs no credentials, where the other routes do', async () => {
    const server = cardServer({ authenticate: () => null })
    expect((await askCard(server)).status).toBe(200)
    expect((await askCard(server, { path: OF_ECHO })).status).toBe(200)
    expect((await askCard(server, { path: '/a2a/echo' })).status).toBe(200)
    expect((await askCard(server, { path: '/a2a/echo/guarded' })).status).toBe(401)
    expect((await askCard(cardServer({ authenticate }))).status).toBe(200)
    expect((await askCard(cardServer(), { path: '/a2a/echo/guarded' })).status).toBe(403)
  })

  test('is that of the assistant that the path or the query names, by its id or an old one, else of the default', async () => {
    const server = cardServer({
      agents: { first: { ...echo, name: 'First' }, second: echo },
      defaultAgent: 'second',
    })
    const nameAt = async (path: string) => (await readCard(server, { path })).name
    expect(await nameAt(WELL_KNOWN)).toBe('second')
    expect(await nameAt(`${WELL_KNOWN}?assistant_id=`)).toBe('second')
    expect(await nameAt(`${WELL_KNOWN}?assistant_id=first`)).toBe('First')
    expect(await nameAt(`${WELL_KNOWN}?assistant_id=old`)).toBe('First')
    expect(await nameAt(`/a2a/first${WELL_KNOWN}?assistant_id=second`)).toBe('First')
  })

  test('is refused where no assistant is named, or one that there is not, with the names that there are', async () => {
    const server = cardServer({ agents: { first: echo, second: echo } })
    const unnamed = await askCard(server)
    expect(unnamed.status).toBe(400)
    expect(await unnamed.json()).toEqual({
      error: 'invalid_argument',
      message: 'Name the assistant: assistant_id is one of "first", "second".',
    })
    for (const path of [`${WELL_KNOWN}?assistant_id=third`, `/a2a/constructor${WELL_KNOWN}`]) {
      const unknown = await askCard(server, { path })
      expect(unknown.status).toBe(404)
      expect(await unknown.json()).toMatchObject({ error: 'not_found' })
    }
  })

  test.each([
    ['1.0', '1.0'],
    ['1.0.1', '1.0'],
    // No version is refused: the card is where its reader learns which there are.
    ['1.1', '1.0'],
    ['99', '1.0'],
    ['nonsense', '1.0'],
    ['0.3', '0.3'],
    ['0.3.0', '0.3'],
    ['0.2.6', '0.3'],
    ['', 'hybrid'],
  ])('for the version %j has the shape of %s', async (version, shape) => {
    const server = cardServer()
    const [byHeader, byQuery] = [
      await readCard(server, { headers: { 'a2a-version': version } }),
      await readCard(server, { path: `${WELL_KNOWN}?A2A-Version=${version}` }),
    ]
    expect(byQuery).toEqual(byHeader)
    expect('supportedInterfaces' in byHeader).toBe(shape !== '0.3')
    expect('protocolVersion' in byHeader).toBe(shape !== '1.0')
  })
})

describe('caches', () => {
  test('are told what the card depends on, and for how long it holds', async () => {
    const { headers } = await askCard(cardServer())
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect(headers.get('vary')).toBe('A2A-Version, X-Forwarded-Proto, Forwarded')
    const fixed = await askCard(cardServer({ card: { url: 'https://agents.example' } }))
    expect(fixed.headers.get('vary')).toBe('A2A-Version')
  })

  test('that others share do not get the card of a host that lets callers in itself', async () => {
    const request = new Request(`http://agents.test${WELL_KNOWN}`)
    const { headers } = await cardServer().fetch(request, { principal: { id: 'alice' } })
    expect(headers.get('cache-control')).toBe('private, max-age=3600')
  })

  test('have a strong tag for each shape, and need not be sent what they have', async () => {
    const server = cardServer()
    const tags = new Set<string>()
    for (const version of ['1.0', '0.3', undefined]) {
      const etag = (await askCard(server, { version })).headers.get('etag')!
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
      tags.add(etag)
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await askCard(server, { version, headers: { 'if-none-match': known } })
        expect(answer.status).toBe(304)
        expect(await answer.text()).toBe('')
        expect(answer.headers.get('etag')).toBe(etag)
        expect(answer.headers.get('vary')).toContain('A2A-Version')
        expect(answer.headers.get('cache-control')).toBe('public, max-age=3600')
      }
      expect((await askCard(server, { version, headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    }
    expect(tags.size).toBe(3)
    expect((await askCard(cardServer())).headers.get('etag')).toBe([...tags][2])
    expect((await askCard(cardServer({ card: { version: '2' } }))).headers.get('etag')).not.toBe([...tags][2])
  })

  test('may ask with HEAD', async () => {
    const { fetch } = cardServer()
    const [head, get] = await Promise.all(
      ['HEAD', 'GET'].map((method) => fetch(new Request(`http://agents.test${WELL_KNOWN}`, { method }))),
    )
    expect(head!.status).toBe(200)
    expect(await head!.text()).toBe('')
    expect([...head!.headers]).toEqual([...get!.headers])
  })
})

describe('the address in the card', () => {
  const urlOf = async (options: CardServerOptions, ask: Parameters<typeof askCard>[1] = {}) =>
    (await readCard(cardServer(options), { version: '0.3', ...ask })).url

  test('is where the card was asked for', async () => {
    expect(await urlOf({})).toBe('http://agents.test/a2a/echo')
    expect(await urlOf({}, { origin: 'https://agents.test:8443', path: OF_ECHO })).toBe(
      'https://agents.test:8443/a2a/echo',
    )
    expect(await urlOf({}, { path: `${WELL_KNOWN}/` })).toBe('http://agents.test/a2a/echo')
    expect(await urlOf({ basePath: '/api/v1' }, { path: `/api/v1${OF_ECHO}` })).toBe(
      'http://agents.test/api/v1/a2a/echo',
    )
    expect(await urlOf({ agents: { 'a/b ü': echo } })).toBe('http://agents.test/a2a/a%2Fb%20%C3%BC')
  })

  test('is that of the option', async () => {
    const headers = { 'x-forwarded-proto': 'http' }
    for (const url of ['https://agents.example/api', 'https://agents.example/api/'])
      expect(await urlOf({ card: { url } }, { headers })).toBe('https://agents.example/api/a2a/echo')
  })

  test.each([
    [{ 'x-forwarded-proto': 'https' }, 'https'],
    [{ 'x-forwarded-proto': 'HTTPS, http' }, 'https'],
    [{ forwarded: 'for=10.0.0.1;proto=https;host=evil.test' }, 'https'],
    [{ forwarded: 'proto="https", proto=http' }, 'https'],
    [{ 'x-forwarded-proto': 'javascript' }, 'http'],
    [{ 'x-forwarded-proto': 'https://evil.test/' }, 'http'],
    [{ 'x-forwarded-proto': 'file, https' }, 'http'],
    [{ forwarded: 'for="proto=https"' }, 'http'],
    [{ forwarded: 'proto=ws' }, 'http'],
    [{ forwarded: 'for=a, proto=https' }, 'http'],
    [{ 'x-forwarded-host': 'evil.test', 'x-forwarded-prefix': '/evil' }, 'http'],
  ])('has the scheme that a proxy tells, and nothing else of %j', async (headers, scheme) => {
    expect(await urlOf({}, { headers: headers as Record<string, string> })).toBe(
      `${scheme}://agents.test/a2a/echo`,
    )
  })

  test.each([
    ['agents.example.com', 'http://agents.example.com/agents/a2a/echo'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/agents/a2a/echo'],
    ['not a host', 'http://localhost/agents/a2a/echo'],
  ])('has in Next, whose requests name the machine, the host of the header %j', async (host, url) => {
    const { GET } = toNext(cardServer(), { basePath: '/agents' })
    const headers = { host, 'a2a-version': '0.3' }
    const answer = await GET(new Request(`http://localhost:3000/agents${OF_ECHO}`, { headers }))
    expect(await answer.json()).toMatchObject({ url })
  })

  test('is that of the option where the card of a mounted server is served at the root too', async () => {
    const server = cardServer({ card: { url: 'https://agents.example/agents' } })
    const app = express().use('/agents', toExpress(server)).get(WELL_KNOWN, toExpress(server))
    const { origin, close } = await openServer(createServer(app))
    onTestFinished(close)
    for (const path of [WELL_KNOWN, `/agents${WELL_KNOWN}`]) {
      const answer = await fetch(origin + path, { headers: { 'a2a-version': '0.3' } })
      expect(await answer.json()).toMatchObject({ url: 'https://agents.example/agents/a2a/echo' })
    }
  })

  test('is an origin and a path, whatever the headers and the host are', async () => {
    const server = cardServer()
    const printable = fc.string({ unit: fc.constantFrom(...' !"#$%&\'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~') })
    const value = fc.oneof(printable, fc.constantFrom('https', 'http', 'proto=https', 'host=evil.test'))
    await fc.assert(
      fc.asyncProperty(value, value, value, printable, async (proto, forwarded, host, name) => {
        const origin = URL.canParse(`http://${name}`)
          ? new URL(`http://${name}`).origin
          : 'http://agents.test'
        if (origin === 'null') return
        const headers = { 'x-forwarded-proto': proto, forwarded, host, 'x-forwarded-host': host }
        const { url } = await readCard(server, { version: '0.3', origin, headers })
        expect([
          new URL(origin).host,
          `${new URL(origin).hostname}:80`,
          `${new URL(origin).hostname}:443`,
        ]).toContain(new URL(url).host)
        expect(url).toMatch(/^https?:\/\/[^/?#@\s<>\\]+\/a2a\/echo$/)
      }),
    )
  })
})

describe.each([
  ['node:http', (server: WebHandler) => createServer(toNode(server))],
  ['Express', (server: WebHandler) => createServer(express().use('/agents', toExpress(server)))],
] as const)('behind %s', (kind, listener) => {
  const prefix = kind === 'Express' ? '/agents' : ''

  async function open(): Promise<string> {
    const { origin, close } = await openServer(listener(cardServer({ authenticate })))
    onTestFinished(close)
    return origin
  }

  test('the card is found, tagged, and known again', async () => {
    const origin = await open()
    for (const path of [WELL_KNOWN, OF_ECHO]) {
      const answer = await fetch(origin + prefix + path, { headers: { 'a2a-version': '0.3' } })
      expect(await answer.json()).toMatchObject({ url: `${origin}${prefix}/a2a/echo` })
      const known = { 'if-none-match': answer.headers.get('etag')!, 'a2a-version': '0.3' }
      expect((await fetch(origin + prefix + path, { headers: known })).status).toBe(304)
      const head = await fetch(origin + prefix + path, { method: 'HEAD', headers: { 'a2a-version': '0.3' } })
      expect(head.headers.get('etag')).toBe(known['if-none-match'])
      expect(await head.text()).toBe('')
    }
  })

  test.each([
    'evil.test/path',
    'user:secret@evil.test',
    'evil.test?a=1',
    'evil.test#a',
    'evil.test"><script>',
    'evil test',
    'javascript:alert(1)',
  ])('a Host header of %j comes into no card', async (host) => {
    const port = Number(new URL(await open()).port)
    const body = await new Promise<string>((resolve, reject) => {
      const sent = request({ port, path: prefix + WELL_KNOWN, headers: { host } }, (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += chunk)).on('end', () => resolve(`${answer.statusCode} ${text}`))
      })
      sent.on('error', reject).end()
    })
    expect(body).toMatch(/^400 /)
    expect(body).not.toContain('evil')
  })
})
