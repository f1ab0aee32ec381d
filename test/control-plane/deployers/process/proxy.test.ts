import {
  Agent,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
} from 'node:http'
import { connect, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Backend,
  createBackend,
  type Gate,
  keyGate,
  openGate,
} from '../../../../src/control-plane/deployers/process/proxy/backend.ts'
import { openProxy, type ReverseProxy } from '../../../../src/control-plane/deployers/process/proxy/proxy.ts'
import { freePort, listen } from '../../../kit/listen.ts'
import { eventually, gate } from '../../../kit/wait.ts'

async function open(
  options: { readonly isBehindProxy?: boolean; readonly gate?: Gate } = {},
): Promise<ReverseProxy> {
  const proxy = await openProxy({
    hostname: '127.0.0.1',
    port: undefined,
    isBehindProxy: false,
    gate: openGate,
    onError: (error) => expect.unreachable(error.message),
    ...options,
  })
  onTestFinished(() => proxy.close())
  return proxy
}

async function backendOf(server: TcpServer): Promise<Backend> {
  const backend = createBackend()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  backend.port = await listen(server)
  onTestFinished(async () => {
    backend.close()
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return backend
}

/** A proxy that leads to a server with this handler. */
async function openTo(handler: RequestListener, options: Parameters<typeof open>[0] = {}) {
  const server = createServer(handler)
  const [proxy, backend] = await Promise.all([open(options), backendOf(server)])
  proxy.turnTo(backend)
  return { proxy, backend, server }
}

const ask = (proxy: ReverseProxy, options: RequestOptions = {}, body?: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: proxy.port, agent: false, ...options })
    sent.once('response', resolve).once('error', reject)
    sent.end(body)
  })

const fetchFrom = (proxy: ReverseProxy, path = '/', init?: RequestInit) =>
  fetch(`http://127.0.0.1:${proxy.port}${path}`, init)

/** What comes on a connection that this text is sent on, until it ends. */
async function exchangeRaw(proxy: ReverseProxy, sent: string): Promise<string> {
  const socket = connect(proxy.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(sent)
  let seen = ''
  for await (const piece of socket) seen += piece
  return seen
}

test('method, path, headers and body arrive as they were sent, and so does the answer', async () => {
  const { proxy } = await openTo(async (req, res) => {
    const seen = { method: req.method, url: req.url, headers: req.rawHeaders, body: await text(req) }
    res.writeHead(207, 'Partly', [
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
      ['X-Odd-Case', 'grün'],
    ] as unknown as Record<string, string>)
    res.end(JSON.stringify(seen))
  })
  const response = await ask(
    proxy,
    { method: 'PATCH', path: '/a%20b?x=1&x=2', headers: { 'X-Case': ['1', '2'], host: 'agents.example' } },
    'some text',
  )
  expect([response.statusCode, response.statusMessage]).toEqual([207, 'Partly'])
  expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2'])
  expect(response.rawHeaders).toContain('X-Odd-Case')
  const seen = JSON.parse(await text(response))
  expect(seen).toMatchObject({ method: 'PATCH', url: '/a%20b?x=1&x=2', body: 'some text' })
  expect(seen.headers.join()).toContain('X-Case,1,X-Case,2')
  expect(seen.headers.join()).toContain('host,agents.example')
})

test.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT', 'PATCH'])(
  '%s passes without a body, with one of a known length, and with one in chunks',
  async (method) => {
    const { proxy } = await openTo(async (req, res) => {
      const body = await text(req)
      res.setHeader('x-body', body)
      res.setHeader('x-framed', req.headers['transfer-encoding'] ?? req.headers['content-length'] ?? 'none')
      res.end(body)
    })
    const bodyOf = async (options: RequestOptions, body?: string) => {
      const { headers } = await ask(proxy, { method, ...options }, body)
      return [headers['x-body'], headers['x-framed']]
    }
    const [empty, framed] = await bodyOf({})
    expect([empty, ['none', '0'].includes(framed as string)]).toEqual(['', true])
    expect(await bodyOf({ headers: { 'content-length': 4 } }, 'four')).toEqual(['four', '4'])
    expect(await bodyOf({ headers: { 'transfer-encoding': 'chunked' } }, 'in chunks')).toEqual([
      'in chunks',
      'chunked',
    ])
  },
)

test('headers of one connection stay on it, and those that Connection names', async () => {
  const { proxy } = await openTo((req, res) => {
    res.writeHead(200, { 'keep-alive': 'timeout=7', connection: 'x-private', 'x-private': '1' })
    res.end(JSON.stringify(req.headers))
  })
  const response = await ask(proxy, {
    headers: { connection: 'close, X-Hop', 'x-hop': '1', te: 'trailers', 'proxy-authorization': 'Basic x' },
  })
  const headers = JSON.parse(await text(response))
  expect(headers).not.toHaveProperty('x-hop')
  expect(headers).not.toHaveProperty('te')
  expect(headers).not.toHaveProperty('proxy-authorization')
  expect(headers.connection).toBe('keep-alive')
  expect(response.headers).not.toHaveProperty('x-private')
  expect(response.headers['keep-alive']).not.toBe('timeout=7')
})

test('the server learns who the client is from the proxy, which believes nobody else', async () => {
  const answer: RequestListener = (req, res) => res.end(JSON.stringify(req.headers))
  const told = {
    host: 'here.example',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'there.example',
    forwarded: 'for=203.0.113.9',
  }
  const { proxy } = await openTo(answer)
  const headers = JSON.parse(await text(await ask(proxy, { headers: told })))
  expect(headers).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'here.example',
  })
  expect(headers).not.toHaveProperty('forwarded')

  const behind = await openTo(answer, { isBehindProxy: true })
  expect(JSON.parse(await text(await ask(behind.proxy, { headers: told })))).toMatchObject({
    'x-forwarded-for': '203.0.113.9, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'there.example',
    forwarded: 'for=203.0.113.9',
  })
})

test('the head of a stream and each of its events arrive as soon as the server has sent them', async () => {
  const steps = [gate(), gate()]
  const { proxy } = await openTo(async (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    for (const [at, step] of steps.entries()) {
      await step.opened
      res.write(`data: ${at}\n\n`)
    }
    res.end()
  })
  const response = await ask(proxy)
  expect(response.headers['content-type']).toBe('text/event-stream')
  const events = response.setEncoding('utf8')[Symbol.asyncIterator]()
  for (const [at, step] of steps.entries()) {
    step.open()
    expect(await events.next()).toEqual({ done: false, value: `data: ${at}\n\n` })
  }
  expect((await events.next()).done).toBe(true)
})

test('trailers arrive', async () => {
  const { proxy } = await openTo((_req, res) => {
    res.writeHead(200, { trailer: 'x-sum' })
    res.write('text')
    res.addTrailers({ 'x-sum': '4' })
    res.end()
  })
  const response = await ask(proxy)
  expect(await text(response)).toBe('text')
  expect(response.trailers).toEqual({ 'x-sum': '4' })
})

test('a client of HTTP/1.0 is answered, and its connection ended', async () => {
  const { proxy } = await openTo((_req, res) => {
    res.write('first ')
    res.end('second')
  })
  const answer = await exchangeRaw(proxy, 'GET / HTTP/1.0\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(answer).toMatch(/\r\n\r\nfirst second$/)
})

test('the server notices that its client has gone', async () => {
  const gone = gate()
  const { proxy, backend } = await openTo((_req, res) => {
    res.once('close', gone.open)
    res.write('one')
  })
  const response = await ask(proxy)
  response.destroy()
  await gone.opened
  await backend.idle()
})

test('the client notices an answer that breaks off', async () => {
  const { proxy } = await openTo((_req, res) => {
    res.write('one')
    setImmediate(() => res.destroy())
  })
  await expect(text(await ask(proxy))).rejects.toThrow()
})

test('without a server the answer is 503 and says when to ask again', async () => {
  const proxy = await open()
  const response = await fetchFrom(proxy, '/runs', { method: 'POST', body: 'x' })
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.json()).toEqual({
    error: 'not_running',
    message: expect.stringContaining('Try again'),
  })
  const backend = createBackend()
  backend.port = await freePort()
  proxy.turnTo(backend)
  expect((await fetchFrom(proxy)).status).toBe(503)
  await backend.idle()
})

test('a server that breaks off before it answers is told as 502, and is asked only once', async () => {
  let asked = 0
  const { proxy, backend } = await openTo((req) => {
    asked++
    req.socket.destroy()
  })
  const response = await fetchFrom(proxy, '/', { method: 'POST', body: '{}' })
  expect([response.status, await response.json(), asked]).toEqual([
    502,
    { error: 'broke_off', message: expect.any(String) },
    1,
  ])
  await backend.idle()
})

test('a connection that the server has closed meanwhile is replaced for a request that may be repeated', async () => {
  const heads: string[] = []
  const backend = await backendOf(
    createTcpServer((socket) => {
      let requests = 0
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        heads.push(bytes.toString().split(' ')[0]!)
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        else socket.destroy()
      })
    }),
  )
  const proxy = await open()
  proxy.turnTo(backend)
  expect(await (await fetchFrom(proxy)).text()).toBe('ok')
  expect(await (await fetchFrom(proxy)).text()).toBe('ok')
  const post = async () => (await fetchFrom(proxy, '/', { method: 'POST', body: 'x' })).status
  expect([await post(), await post()]).toEqual([200, 502])
  expect(heads).toEqual(['GET', 'GET', 'GET', 'POST', 'POST'])
})

test('an answer that comes before the end of the upload reaches the client', async () => {
  const { proxy } = await openTo((_req, res) => {
    res.writeHead(413, { connection: 'close' })
    res.end('too much')
  })
  const sent = request({ host: '127.0.0.1', port: proxy.port, method: 'POST', agent: false })
  sent.on('error', () => {})
  sent.write('x'.repeat(100_000))
  const response = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve))
  expect([response.statusCode, await text(response)]).toEqual([413, 'too much'])
  sent.destroy()
})

const HANDSHAKE =
  'GET /chat HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc\r\n\r\n'

test('a web socket passes bytes in both directions, also those that came with the handshake', async () => {
  const { proxy, backend, server } = await openTo(() => {})
  server.on('upgrade', (req, socket, head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n')
    socket.write(
      `X-Key: ${req.headers['sec-websocket-key']}\r\nX-For: ${req.headers['x-forwarded-for']}\r\n\r\n`,
    )
    socket.write(`<${head}>`)
    socket.on('data', (bytes: Buffer) =>
      `${bytes}` === 'end' ? socket.end('bye') : socket.write(`<${bytes}>`),
    )
  })
  const socket = connect(proxy.port, '127.0.0.1')
  let seen = ''
  socket.setEncoding('utf8').on('data', (piece) => {
    seen += piece
  })
  socket.write(`${HANDSHAKE}early`)
  await eventually(() => seen.includes('<early>'), { timeoutMs: 200_000 })
  expect(seen).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
  expect(seen).toMatch(/\r\nconnection: Upgrade\r\nUpgrade: websocket\r\n/i)
  expect(seen).toContain('X-Key: abc\r\nX-For: 127.0.0.1\r\n')
  socket.write('later')
  await eventually(() => seen.includes('<later>'), { timeoutMs: 200_000 })
  let isIdle = false
  const idle = backend.idle().then(() => {
    isIdle = true
  })
  await sleep(20)
  expect(isIdle).toBe(false)
  socket.write('end')
  await eventually(() => seen.endsWith('bye'), { timeoutMs: 200_000 })
  await idle
})

test('a web socket that the server refuses gets its answer, and one without a server 503', async () => {
  const { proxy, server, backend } = await openTo(() => {})
  server.on('upgrade', (_req, socket) => {
    socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno')
  })
  expect(await exchangeRaw(proxy, HANDSHAKE)).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n[\s\S]*\r\n\r\nno$/)
  await backend.idle()
  backend.port = await freePort()
  expect(await exchangeRaw(proxy, HANDSHAKE)).toMatch(/^HTTP\/1\.1 503 /)
  proxy.turnTo(undefined)
  expect(await exchangeRaw(proxy, HANDSHAKE)).toMatch(/^HTTP\/1\.1 503 /)
})

test('the server and the client of a web socket notice that the other one has gone', async () => {
  const { proxy, server } = await openTo(() => {})
  const sockets: Socket[] = []
  const gone = gate()
  server.on('upgrade', (_req, socket) => {
    sockets.push(socket as Socket)
    socket.on('error', gone.open).on('end', gone.open).resume()
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  })
  const client = connect(proxy.port, '127.0.0.1').on('error', () => {})
  client.write(HANDSHAKE)
  await new Promise((resolve) => client.once('data', resolve))
  client.resetAndDestroy()
  await gone.opened

  const other = connect(proxy.port, '127.0.0.1').on('error', () => {})
  other.write(HANDSHAKE)
  await new Promise((resolve) => other.once('data', resolve))
  sockets[1]!.destroy()
  await new Promise((resolve) => other.once('close', resolve))
})

test('a wish for another protocol than web sockets is overlooked, and the connection serves on', async () => {
  const { proxy } = await openTo(async (req, res) =>
    res.end(`<${req.url} ${req.headers.upgrade} ${await text(req)}>`),
  )
  const wish =
    'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'
  const socket = connect(proxy.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const answers = socket.setEncoding('utf8')[Symbol.asyncIterator]()
  const say = async (head: string, body: string) => {
    socket.write(`${head} HTTP/1.1\r\n${wish}${body}`)
    let seen = ''
    while (!/<.*>/.test(seen)) seen += (await answers.next()).value
    return /<.*>/.exec(seen)![0]
  }
  expect(await say('POST /1', 'Content-Length: 5\r\n\r\nhello')).toBe('</1 undefined hello>')
  expect(await say('POST /2', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n')).toBe(
    '</2 undefined abc>',
  )
  expect(await say('GET /3', '\r\n')).toBe('</3 undefined >')
})

test('a wish for another protocol behind a request that is not answered yet ends the connection', async () => {
  for (const protocol of ['websocket', 'h2c']) {
    const { proxy } = await openTo(() => {})
    const wish = `Host: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`
    expect(await exchangeRaw(proxy, `GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\n${wish}`)).toBe('')
    expect((await fetchFrom(proxy, '/', { signal: AbortSignal.timeout(50) }).catch((e) => e)).name).toBe(
      'TimeoutError',
    )
  }
})

test('a client that does not read stops the server from sending, and nothing piles up between them', async () => {
  let written = 0
  const { proxy } = await openTo((_req, res) => {
    const block = Buffer.alloc(1 << 16)
    const write = () => {
      while (written < 1 << 30) {
        written += block.length
        if (!res.write(block)) return void res.once('drain', write)
      }
    }
    write()
  })
  const response = await ask(proxy)
  response.pause()
  await sleep(300)
  const early = written
  await sleep(300)
  expect(written).toBe(early)
  // What the buffers of the system hold.
  expect(written).toBeLessThan(32 << 20)
  response.destroy()
})

test('a server that does not read stops the client from sending', async () => {
  const { proxy } = await openTo(() => {})
  const sent = request({ host: '127.0.0.1', port: proxy.port, method: 'POST', agent: false })
  sent.on('error', () => {})
  const block = Buffer.alloc(1 << 16)
  let written = 0
  const write = () => {
    while (written < 1 << 30) {
      written += block.length
      if (!sent.write(block)) return void sent.once('drain', write)
    }
  }
  write()
  await sleep(300)
  const early = written
  await sleep(300)
  expect(written).toBe(early)
  expect(written).toBeLessThan(32 << 20)
  sent.destroy()
})

test('500 MB pass through in little memory', async () => {
  const size = 500_000_000
  const { proxy } = await openTo(async (req, res) => {
    let received = 0
    for await (const piece of req) received += piece.length
    res.setHeader('x-received', received)
    const block = Buffer.alloc(1 << 16)
    let left = size
    const write = () => {
      while (left > 0) {
        const piece = block.subarray(0, left)
        left -= piece.length
        if (!res.write(piece) && left > 0) return void res.once('drain', write)
      }
      res.end()
    }
    write()
  })
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = 0
  const response = await ask(proxy)
  let received = 0
  for await (const piece of response) {
    // To ask for each of many thousand pieces would take as long as to pass them on.
    if (received >> 20 !== (received += piece.length) >> 20) most = Math.max(most, process.memoryUsage.rss())
  }
  expect(received).toBe(size)
  expect(most - before).toBeLessThan(150_000_000)
})

test('a port that is taken is replaced by another one', async () => {
  const port = await listen(createServer().unref())
  const proxy = await openProxy({
    hostname: '127.0.0.1',
    port,
    isBehindProxy: false,
    gate: openGate,
    onError: () => {},
  })
  onTestFinished(() => proxy.close())
  expect(proxy.port).not.toBe(port)
  expect((await fetchFrom(proxy)).status).toBe(503)
})

test('an address that is not of this machine is told', async () => {
  const opened = openProxy({
    hostname: '203.0.113.1',
    port: 4000,
    isBehindProxy: false,
    gate: openGate,
    onError: () => {},
  })
  await expect(opened).rejects.toThrow('No port can be opened on 203.0.113.1: EADDRNOTAVAIL.')
})

test('a closed proxy ends its connections and frees its port', async () => {
  const { proxy, server } = await openTo((_req, res) => void res.write('one'))
  server.on('upgrade', (_req, socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  )
  const response = await ask(proxy)
  const socket = connect(proxy.port, '127.0.0.1').on('error', () => {})
  socket.write(HANDSHAKE)
  await new Promise((resolve) => socket.once('data', resolve))
  const ended = new Promise((resolve) => socket.once('close', resolve))
  await proxy.close()
  await expect(buffer(response)).rejects.toThrow()
  await ended
  expect(await listen(createServer().unref(), proxy.port)).toBe(proxy.port)
})

test('200 clients with kept connections and their streams notice nothing of 20 switches', async () => {
  const proxy = await open()
  const backends = await Promise.all(
    Array.from({ length: 21 }, (_, at) =>
      backendOf(
        createServer(async (req, res) => {
          if (req.url === '/stream') {
            res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
            for (let event = 0; event < 10; event++) {
              await sleep(20)
              res.write(`data: ${at}\n\n`)
            }
            return res.end()
          }
          const body = await text(req)
          res.end(`${at}:${body}`)
        }),
      ),
    ),
  )
  proxy.turnTo(backends[0])
  const agent = new Agent({ keepAlive: true, maxSockets: 400 })
  onTestFinished(() => agent.destroy())
  const failures: unknown[] = []
  const served = new Set<number>()
  let answers = 0
  let streams = 0
  let isOver = false
  const client = async (number: number) => {
    for (let at = 0; !isOver; at++) {
      const isStream = number % 10 === 0
      const body = isStream ? undefined : `${number}.${at}`
      try {
        const options = { agent, method: isStream ? 'GET' : 'POST', path: isStream ? '/stream' : '/' }
        const response = await ask(proxy, options, body)
        const said = await text(response)
        if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${said}`)
        if (isStream) {
          const events = said.trim().split('\n\n')
          if (events.length !== 10 || new Set(events).size !== 1) throw new Error(said)
          streams++
        } else if (said.split(':')[1] !== body) throw new Error(said)
        else served.add(Number.parseInt(said, 10))
        answers++
      } catch (error) {
        failures.push(error)
      }
    }
  }
  const clients = Array.from({ length: 200 }, (_, number) => client(number))
  for (let at = 1; at <= 20; at++) {
    const soFar = answers
    await eventually(() => answers >= soFar + 100)
    const before = backends[at - 1]!
    proxy.turnTo(backends[at])
    // The one before is gone as soon as its requests have ended.
    void before.idle().then(() => {
      before.port = undefined
      before.close()
    })
  }
  await eventually(() => served.has(20))
  isOver = true
  await Promise.all(clients)
  expect(failures).toEqual([])
  expect(served.size).toBe(21)
  expect(streams).toBeGreaterThan(20)
})

test('a gate with keys lets in who has one, and the server does not get it', async () => {
  const { proxy } = await openTo((req, res) => res.end(req.rawHeaders.join('\n')), {
    gate: keyGate(['one', 'two']),
  })
  const as = async (headers: Record<string, string>, path = '/threads', method = 'GET') => {
    const response = await fetchFrom(proxy, path, { headers, method })
    return { status: response.status, seen: await response.text() }
  }
  for (const headers of [{}, { 'x-api-key': 'three' }, { authorization: 'Basic one' }] as Record<
    string,
    string
  >[])
    expect(await as(headers)).toEqual({ status: 401, seen: expect.stringContaining('X-Api-Key') })
  const withKey = await as({ 'x-api-key': 'one', authorization: 'Bearer of-a-user' })
  expect(withKey).toEqual({ status: 200, seen: expect.stringContaining('Bearer of-a-user') })
  expect(withKey.seen).not.toMatch(/x-api-key/i)
  const withBearer = await as({ authorization: 'bearer two' })
  expect(withBearer.status).toBe(200)
  expect(withBearer.seen).not.toMatch(/authorization/i)
  expect((await as({}, '/ok')).status).toBe(200)
  expect((await as({}, '/threads', 'OPTIONS')).status).toBe(200)
  expect((await as({}, '/ok/../threads')).status).toBe(401)
  const upgrade = 'GET /ok2 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  expect(await exchangeRaw(proxy, upgrade)).toMatch(/^HTTP\/1\.1 401 /)
})

test('a range of ports is used from its first free one on, and nothing beside it', async () => {
  const first = await freePort()
  const options = {
    hostname: '127.0.0.1',
    ports: [first, first] as const,
    gate: openGate,
    isBehindProxy: false,
    onError: () => {},
  }
  // A port of before that is not in the range is not taken again.
  const proxy = await openProxy({ ...options, port: 1 })
  onTestFinished(() => proxy.close())
  expect(proxy.port).toBe(first)
  await expect(openProxy({ ...options, port: undefined })).rejects.toThrow('EADDRINUSE')
})
