import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createSocketServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createDelivery, type DeliveryOptions, type DeliveryRequest } from '../../src/core/egress/delivery.ts'
import type { DeliveryError } from '../../src/core/egress/errors.ts'
import { bundleOf } from '../kit/bundle.ts'
import { freePort, listen } from '../kit/listen.ts'
import { programs } from '../kit/program.ts'

const toLoopback = async (_name: string): Promise<readonly string[]> => ['127.0.0.1']
const start = programs()

/** A receiver on loopback, which counts its connections. */
async function receiver(answer: RequestListener) {
  const seen: { headers: IncomingMessage['headers']; method: string; url: string; body: string }[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ headers: request.headers, method: request.method!, url: request.url!, body })
    answer(request, response)
  })
  server.on('connection', () => {
    connections++
  })
  const port = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port, seen, connections: () => connections, server }
}

/** A server that speaks bytes of its own choice. */
async function rawReceiver(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => serve(socket))
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return listen(server)
}

const ok = (_: IncomingMessage, response: ServerResponse) => void response.end('secret answer')

/** The error of a delivery that fails. */
async function failure(options: DeliveryOptions, request: DeliveryRequest): Promise<DeliveryError> {
  const error = await createDelivery(options)(request).then(
    ({ status }) => expect.fail(`It was answered ${status}.`),
    (error: DeliveryError) => error,
  )
  expect(error.name).toBe('DeliveryError')
  expect(error.cause).toBeUndefined()
  expect(JSON.stringify([error.message, error])).not.toContain('secret')
  return error
}

describe('a delivery', () => {
  test('posts the body with its headers to the name, at the address that was checked', async () => {
    const { port, seen } = await receiver(ok)
    const lookup = vi.fn(toLoopback)
    const deliver = createDelivery({ allowLoopback: true, lookup })
    const url = `http://hooks.example.com:${port}/a%20b?c=d#e`
    const headers = { 'Content-Type': 'application/json', 'X-Token': 'tök', Host: 'other.example.com' }
    expect(await deliver({ url, headers, body: '{"ü":1}' })).toEqual({ status: 200 })
    expect(lookup.mock.calls.map(([name]) => name)).toEqual(['hooks.example.com'])
    expect(seen).toMatchObject([
      {
        method: 'POST',
        url: '/a%20b?c=d',
        body: '{"ü":1}',
        headers: {
          host: `hooks.example.com:${port}`,
          'content-type': 'application/json',
          'content-length': '8',
        },
      },
    ])
  })

  test('goes to loopback only where that is allowed', async () => {
    const { port, connections } = await receiver(ok)
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433'])
      expect(await failure({}, { url: `http://${host}:${port}/`, body: '' })).toMatchObject({
        code: 'address_refused',
      })
    expect(connections()).toBe(0)
    const deliver = createDelivery({ allowLoopback: true })
    expect(await deliver({ url: `http://127.0.0.1:${port}/`, body: '' })).toEqual({ status: 200 })
    expect(await deliver({ url: `http://localhost:${port}/`, body: '' })).toEqual({ status: 200 })
    expect(connections()).toBe(2)
  })

  test.each([
    [['127.0.0.1'], false],
    [['10.0.0.1'], true],
    [['127.0.0.1', '10.0.0.1'], true],
    [['127.0.0.1', '169.254.169.254'], true],
    [['127.0.0.1', '::ffff:10.0.0.1'], true],
    [['127.0.0.1', 'fd00:ec2::254'], true],
    [['127.0.0.1', 'fe80::1%lo'], true],
    [['127.0.0.1', '64:ff9b::a00:1'], true],
  ])(
    'fetches nothing from a name with the addresses %j where loopback is allowed: %s',
    async (addresses, allowLoopback) => {
      const { port, connections } = await receiver(ok)
      const lookup = async () => addresses
      const request = { url: `http://secret.example.com:${port}/`, body: '' }
      expect(await failure({ allowLoopback, lookup }, request)).toMatchObject({
        code: 'address_refused',
        retryable: false,
      })
      expect(connections()).toBe(0)
    },
  )

  test('a name that is bound to another address after the check gains nothing', async () => {
    const { port, seen, connections } = await receiver(ok)
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']]
    const lookup = vi.fn(async () => answers.shift()!)
    const deliver = createDelivery({ allowLoopback: true, lookup })
    const request = { url: `http://rebinding.example.com:${port}/`, body: 'x' }
    expect(await deliver(request)).toEqual({ status: 200 })
    await expect(deliver(request)).rejects.toMatchObject({ code: 'address_refused' })
    expect(await deliver(request)).toEqual({ status: 200 })
    expect(lookup).toHaveBeenCalledTimes(3)
    expect([connections(), seen.length]).toEqual([2, 2])
  })

  test('asks for the certificate of the name, not of the address', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentwire-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=hooks.example.com', '-addext', 'subjectAltName=DNS:hooks.example.com']
    const output = ['-nodes', '-keyout', key, '-out', cert, '-days', '2']
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...output, ...subject], {
      stdio: 'ignore',
    })
    const asked: string[] = []
    const server = createTlsServer(
      {
        key: readFileSync(key),
        cert: readFileSync(cert),
        SNICallback(name, done) {
          asked.push(name)
          done(null)
        },
      },
      (request, response) => void response.end(request.headers.host),
    )
    const port = await listen(server)
    onTestFinished(() => void server.close())

    const distrusted = { url: `https://hooks.example.com:${port}/`, body: '' }
    const error = await failure({ allowLoopback: true, lookup: toLoopback }, distrusted)
    expect(error).toMatchObject({ code: 'unreachable', retryable: true })
    expect(error.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT')

    const { output: printed } = start(process.execPath, [await bundleOf('test/egress/deliver-once.ts')], {
      ...process.env,
      NODE_EXTRA_CA_CERTS: cert,
      URLS: ['hooks.example.com', 'other.example.com', '127.0.0.1']
        .map((host) => `https://${host}:${port}/`)
        .join(' '),
    })
    const text = await printed(/(.*\n){3}/)
    expect(text.trim().split('\n')).toEqual([
      '200',
      'unreachable: ERR_TLS_CERT_ALTNAME_INVALID',
      'unreachable: ERR_TLS_CERT_ALTNAME_INVALID',
    ])
    expect(asked).toEqual(['hooks.example.com', 'hooks.example.com', 'other.example.com'])
  })

  test.each([301, 302, 303, 307, 308, 300, 304])('a redirect with %i is a final failure', async (status) => {
    const inside = await receiver(ok)
    const { port } = await receiver((_, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${inside.port}/secret` }).end()
    })
    const request = { url: `http://127.0.0.1:${port}/`, body: '' }
    expect(await failure({ allowLoopback: true }, request)).toMatchObject({
      code: 'redirected',
      retryable: false,
      status,
    })
    expect(inside.connections()).toBe(0)
  })

  test.each([
    [200, undefined],
    [202, undefined],
    [204, undefined],
    [400, 'rejected'],
    [401, 'rejected'],
    [404, 'rejected'],
    [410, 'rejected'],
    [408, 'failed'],
    [425, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
  ])('an answer of %i is the failure %s', async (status, code) => {
    const { port } = await receiver(
      (_, response) => void response.writeHead(status, { 'retry-after': '7' }).end(),
    )
    const request = { url: `http://127.0.0.1:${port}/`, body: '' }
    if (code === undefined) expect(await createDelivery({ allowLoopback: true })(request)).toEqual({ status })
    else
      expect(await failure({ allowLoopback: true }, request)).toMatchObject({
        code,
        status,
        retryable: code === 'failed',
        retryAfterMs: 7_000,
      })
  })

  test('a receiver that never answers costs no more than the time limit', async () => {
    const { port } = await receiver(() => {})
    const began = Date.now()
    const request = { url: `http://127.0.0.1:${port}/`, body: '' }
    expect(await failure({ allowLoopback: true, timeoutMs: 100 }, request)).toMatchObject({
      code: 'timeout',
      retryable: true,
    })
    expect(Date.now() - began).toBeLessThan(9_000)
  })

  test('a look-up that never ends costs no more than the time limit', async () => {
    const lookup = () => new Promise<never>(() => {})
    const request = { url: 'http://slow.example.com/', body: '' }
    expect(await failure({ lookup, timeoutMs: 50 }, request)).toMatchObject({ code: 'timeout' })
  })

  test.each(['HTTP/1.1 200 OK\r\nX: ', 'HTTP/1.1 ', 'HTTP/1.1 100 Continue\r\n\r\n'])(
    'an answer that begins with %j and goes on byte by byte costs no more than the time limit',
    async (begin) => {
      const port = await rawReceiver((socket) => {
        socket.write(begin)
        const timer = setInterval(() => socket.write(begin.endsWith('\n') ? begin : 'x'), 5)
        socket.on('close', () => clearInterval(timer))
      })
      const request = { url: `http://127.0.0.1:${port}/`, body: '' }
      const { code } = await failure({ allowLoopback: true, timeoutMs: 150 }, request)
      expect(['timeout', 'unreachable']).toContain(code)
    },
  )

  test('a body without an end is read up to the limit, and its status counts', async () => {
    let written = 0
    const port = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const chunk = 'y'.repeat(16_384)
      const more = () => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length
        written += chunk.length
      }
      socket.on('drain', more)
      more()
    })
    const deliver = createDelivery({ allowLoopback: true, maxResponseBytes: 100_000 })
    expect(await deliver({ url: `http://127.0.0.1:${port}/`, body: '' })).toEqual({ status: 200 })
    await sleep(50)
    const after = written
    await sleep(50)
    expect(written).toBe(after)
  })

  test('a body that comes byte by byte costs no more than the time limit, and its status counts', async () => {
    const port = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 500 Oh\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 5)
      socket.on('close', () => clearInterval(timer))
    })
    const request = { url: `http://127.0.0.1:${port}/`, body: '' }
    expect(await failure({ allowLoopback: true, timeoutMs: 100 }, request)).toMatchObject({
      code: 'failed',
      status: 500,
    })
  })

  test('huge headers, and what is no HTTP, are failures that quote nothing', async () => {
    const answers = [
      `HTTP/1.1 200 OK\r\nx: ${'secret'.repeat(20_000)}\r\n\r\n`,
      'SSH-2.0-secret\r\n',
      'HTTP/1.1 secret\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: secret\r\nConnection: Upgrade\r\n\r\n',
      '',
    ]
    for (const answer of answers) {
      const port = await rawReceiver((socket) => void socket.end(answer))
      const request = { url: `http://127.0.0.1:${port}/`, body: '' }
      expect(await failure({ allowLoopback: true }, request)).toMatchObject({
        code: 'unreachable',
        retryable: true,
      })
    }
  })

  test('an address that refuses the connection is followed by the next one', async () => {
    const { port } = await receiver(ok)
    const lookup = async () => ['127.0.0.2', '127.0.0.3', '127.0.0.1']
    const deliver = createDelivery({ allowLoopback: true, lookup })
    expect(await deliver({ url: `http://hooks.example.com:${port}/`, body: '' })).toEqual({ status: 200 })
  })

  test('a receiver that cuts the connection is not called twice', async () => {
    let calls = 0
    const port = await rawReceiver((socket) => {
      calls++
      socket.destroy()
    })
    const lookup = async () => ['127.0.0.1', '127.0.0.1']
    const request = { url: `http://hooks.example.com:${port}/`, body: '' }
    expect(await failure({ allowLoopback: true, lookup }, request)).toMatchObject({ code: 'unreachable' })
    expect(calls).toBe(1)
  })

  test('a receiver that is not there, and a name that is unknown, may be tried again', async () => {
    const request = { url: `http://127.0.0.1:${await freePort()}/`, body: '' }
    const refused = await failure({ allowLoopback: true }, request)
    expect(refused).toMatchObject({ code: 'unreachable', retryable: true })
    expect(refused.message).toContain('ECONNREFUSED')
    const lookup = async () => {
      throw Object.assign(new Error('secret'), { code: 'ENOTFOUND' })
    }
    const unknown = await failure({ lookup }, { url: 'http://no.example.com/', body: '' })
    expect(unknown).toMatchObject({ code: 'unreachable', retryable: true })
    expect(
      await failure({ lookup: async () => [] }, { url: 'http://no.example.com/', body: '' }),
    ).toMatchObject({
      code: 'unreachable',
    })
  })

  test.each([
    ['X-Token', 'secret\r\nX-Injected: 1'],
    ['X Token', 'secret'],
    ['X-Token', 'secret\0'],
    ['X-Token', '€ secret'],
  ])('a header %j of %j is refused', async (name, value) => {
    const { port, connections } = await receiver(ok)
    const request = { url: `http://127.0.0.1:${port}/`, headers: { [name]: value }, body: '' }
    expect(await failure({ allowLoopback: true }, request)).toMatchObject({
      code: 'invalid_request',
      retryable: false,
    })
    expect(connections()).toBe(0)
  })

  test('ends when its signal aborts, before, during the look-up and during the answer', async () => {
    const { port, connections } = await receiver(() => {})
    const url = `http://hooks.example.com:${port}/`
    const before = AbortSignal.abort()
    expect(
      await failure({ allowLoopback: true, lookup: toLoopback }, { url, body: '', signal: before }),
    ).toMatchObject({
      code: 'aborted',
    })
    expect(connections()).toBe(0)
    for (const lookup of [() => new Promise<never>(() => {}), toLoopback]) {
      const abort = new AbortController()
      const failed = failure({ allowLoopback: true, lookup }, { url, body: '', signal: abort.signal })
      await sleep(50)
      abort.abort()
      expect(await failed).toMatchObject({ code: 'aborted' })
    }
    expect(connections()).toBe(1)
  })
})

describe('a name', () => {
  /** A name server on loopback, which answers each type of question with its addresses, or not at all. */
  async function nameServer(addresses: Record<number, readonly number[][] | undefined>) {
    const asked: number[] = []
    const socket = createSocket('udp4')
    socket.on('message', (query, { port }) => {
      const question = query.subarray(12, query.indexOf(0, 12) + 5)
      const type = question.readUInt16BE(question.length - 4)
      asked.push(type)
      const found = addresses[type]
      if (!found) return
      const records = found.map((bytes) => {
        const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, bytes.length])
        return Buffer.concat([record, Buffer.from(bytes)])
      })
      const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, found.length, 0, 0, 0, 0])
      socket.send(Buffer.concat([header, question, ...records]), port, '127.0.0.1')
    })
    await new Promise<void>((resolve) => {
      socket.bind(0, '127.0.0.1', resolve)
    })
    const { port } = socket.address()
    const { getBuiltinModule } = process
    const resolver = class extends Resolver {
      constructor() {
        super()
        this.setServers([`127.0.0.1:${port}`])
      }
    }
    process.getBuiltinModule = ((name: string) =>
      name === 'node:dns/promises' ? { Resolver: resolver } : getBuiltinModule(name)) as never
    onTestFinished(() => {
      process.getBuiltinModule = getBuiltinModule
      socket.close()
    })
    return asked
  }
  const A = 1
  const AAAA = 28
  const loopback6 = [...new Array<number>(15).fill(0), 1]

  test('is resolved by the name servers, to both kinds of addresses, and all are checked', async () => {
    const { port, seen } = await receiver(ok)
    const request = { url: `http://hooks.example.com.:${port}/`, body: '' }
    const asked = await nameServer({ [A]: [[127, 0, 0, 1]], [AAAA]: [] })
    expect(await createDelivery({ allowLoopback: true })(request)).toEqual({ status: 200 })
    expect(asked.toSorted()).toEqual([A, AAAA])
    await nameServer({ [A]: [[127, 0, 0, 1]], [AAAA]: [loopback6] })
    expect(await createDelivery({ allowLoopback: true })(request)).toEqual({ status: 200 })
    expect(seen.map(({ headers }) => headers.host)).toEqual(new Array(2).fill(`hooks.example.com.:${port}`))
    expect(await failure({}, request)).toMatchObject({ code: 'address_refused' })
    await nameServer({
      [A]: [
        [127, 0, 0, 1],
        [10, 0, 0, 1],
      ],
      [AAAA]: [],
    })
    expect(await failure({ allowLoopback: true }, request)).toMatchObject({ code: 'address_refused' })
    await nameServer({ [A]: [[127, 0, 0, 1]], [AAAA]: [[0xfe, 0x80, ...new Array<number>(13).fill(0), 1]] })
    expect(await failure({ allowLoopback: true }, request)).toMatchObject({ code: 'address_refused' })
  })

  test('without an address may be tried again, and so may one whose name servers do not answer', async () => {
    const request = { url: 'http://hooks.example.com/', body: '' }
    await nameServer({ [A]: [], [AAAA]: [] })
    expect(await failure({}, request)).toMatchObject({ code: 'unreachable', retryable: true })
    await nameServer({ [A]: [[8, 8, 8, 8]] })
    expect(await failure({ timeoutMs: 200 }, request)).toMatchObject({ code: 'timeout', retryable: true })
  })
})

describe('where requests are sent by fetch', () => {
  const onWorkers = () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
    onTestFinished(() => void vi.unstubAllGlobals())
  }

  test('literal addresses are checked, and redirects are not followed', async () => {
    onWorkers()
    const inside = await receiver(ok)
    const { port, seen } = await receiver((request, response) => {
      response
        .writeHead(request.url === '/ok' ? 204 : 302, { location: `http://127.0.0.1:${inside.port}/` })
        .end()
    })
    expect(await failure({}, { url: `http://127.1:${port}/ok`, body: '' })).toMatchObject({
      code: 'address_refused',
    })
    expect(seen).toEqual([])
    const deliver = createDelivery({ allowLoopback: true })
    expect(
      await deliver({ url: `http://127.0.0.1:${port}/ok`, headers: { 'X-Token': 't' }, body: 'b' }),
    ).toEqual({ status: 204 })
    expect(seen).toMatchObject([{ method: 'POST', body: 'b', headers: { 'x-token': 't' } }])
    const redirected = { url: `http://127.0.0.1:${port}/`, body: '' }
    expect(await failure({ allowLoopback: true }, redirected)).toMatchObject({ code: 'redirected' })
    expect(inside.connections()).toBe(0)
  })

  test('a body without an end, no answer and no receiver end as they do elsewhere', async () => {
    onWorkers()
    const endless = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const timer = setInterval(() => socket.write('x'.repeat(30_000)), 5)
      socket.on('close', () => clearInterval(timer))
    })
    const deliver = createDelivery({ allowLoopback: true, timeoutMs: 5_000 })
    expect(await deliver({ url: `http://127.0.0.1:${endless}/`, body: '' })).toEqual({ status: 200 })
    const silent = await rawReceiver(() => {})
    const late = { url: `http://127.0.0.1:${silent}/`, body: '' }
    expect(await failure({ allowLoopback: true, timeoutMs: 100 }, late)).toMatchObject({ code: 'timeout' })
    const nobody = { url: `http://127.0.0.1:${await freePort()}/`, body: '' }
    expect(await failure({ allowLoopback: true }, nobody)).toMatchObject({ code: 'unreachable' })
  })
})

test('a runtime with sockets that cannot call checked addresses sends nothing', async () => {
  const { port, connections } = await receiver(ok)
  const { getBuiltinModule } = process
  process.getBuiltinModule = undefined as never
  onTestFinished(() => void (process.getBuiltinModule = getBuiltinModule))
  const request = { url: `http://127.0.0.1:${port}/`, body: '' }
  expect(await failure({ allowLoopback: true }, request)).toMatchObject({ code: 'unreachable' })
  expect(connections()).toBe(0)
})
