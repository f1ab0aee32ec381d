import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { inspect } from 'node:util'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ListenError, serve } from '../../adapters/node.ts'
import { AgentwireError } from '../../src/core/errors.ts'
import { withCors } from '../../src/core/http/cors.ts'
import type { WebHandler } from '../../src/core/http/types.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { openStorage } from '../../src/storage/open.ts'
import { listen } from '../kit/listen.ts'

function handlerOf(answer: () => Promise<Response>, close = async () => {}): WebHandler {
  return { routes: async () => [], fetch: answer, handle: answer, close }
}

const print = vi.spyOn(console, 'log').mockImplementation(() => {})
beforeEach(() => void print.mockClear())

const hello = handlerOf(async () => new Response('hello'))

test('serves until it is closed', async () => {
  const { origin, port, close } = await serve(hello, { port: 0 })
  expect(origin).toBe(`http://127.0.0.1:${port}`)
  expect(await (await fetch(origin)).text()).toBe('hello')
  await close()
  await expect(fetch(origin)).rejects.toThrow()
})

test('prints its address in one line, unless it is told to be silent', async () => {
  const { origin, close } = await serve(hello, { port: 0 })
  expect(print.mock.calls).toEqual([[`agentwire listens on ${origin}`]])
  await close()
  const silent = await serve(hello, { port: 0, silent: true })
  expect(print).toHaveBeenCalledTimes(1)
  await silent.close()
})

const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

test.runIf(outside)('is reached from other machines only if it is told so', async () => {
  const own = await serve(hello, { port: 0 })
  await expect(fetch(`http://${outside}:${own.port}`)).rejects.toThrow()
  await own.close()
  for (const options of [{ hostname: '0.0.0.0' }, { host: '0.0.0.0' }]) {
    const open = await serve(hello, { port: 0, ...options })
    expect(open.origin).toBe(`http://localhost:${open.port}`)
    expect(await (await fetch(`http://${outside}:${open.port}`)).text()).toBe('hello')
    await open.close()
  }
})

describe('pages of other origins', () => {
  async function allowedBy(handler: WebHandler, origins: readonly string[]): Promise<(string | null)[]> {
    const { origin: at, close } = await serve(handler, { port: 0 })
    const answers = await Promise.all(origins.map((origin) => fetch(at, { headers: { origin } })))
    await close()
    return answers.map(({ headers }) => headers.get('access-control-allow-origin'))
  }
  const near = [
    'http://localhost:5173',
    'https://localhost',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
  ] as const
  const far = [
    'https://evil.example.com',
    'http://localhost.evil.example.com',
    'http://evil.localhost',
    'http://127.0.0.1.evil.example.com:80',
    'http://127a0b0c1',
    'http://192.168.0.7:3000',
    'null',
  ] as const

  test('are allowed where they are of this machine', async () => {
    expect(await allowedBy(hello, [...near, ...far])).toEqual([...near, ...far.map(() => null)])
  })

  test('are what http.cors says where the handler has it', async () => {
    const [page, app] = [near[0], 'https://app.example.com']
    expect(await allowedBy(withCors(hello, { origins: [app] }), [page, app])).toEqual([null, app])
    expect(await allowedBy(withCors(hello, false), [page, app])).toEqual([null, null])
  })
})

test('a busy port is an error that names the port and says what to do', async () => {
  const other = createServer()
  const port = await listen(other)
  const error = await serve(hello, { port, host: '127.0.0.1' }).catch((reason) => reason)
  await new Promise((resolve) => other.close(resolve))
  expect(error).toBeInstanceOf(ListenError)
  expect(error).toBeInstanceOf(AgentwireError)
  expect(error.code).toBe('port_in_use')
  expect(error.message).toContain(`Port ${port} is already in use.`)
  expect(error.cause.code).toBe('EADDRINUSE')
})

test('an address that is not of this machine is an error that names it', async () => {
  const error = await serve(hello, { port: 0, host: '203.0.113.1' }).catch((reason) => reason)
  expect(error.code).toBe('listen_failed')
  expect(error.message).toContain('203.0.113.1')
})

test('a database that is not there ends the start with one sentence, before it listens', async () => {
  const { store, checkpointer } = await openStorage('postgres://ann:secret@127.0.0.1:1/agents')
  const agent = defineAgent({ run: () => 'Hello' })
  const server = createAgentServer({ agents: { agent }, store, checkpointer })
  onTestFinished(() => server.close())
  const error = await serve(server, { port: 0 }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'AgentwireError', code: 'unavailable' })
  // What Node prints of an error that nobody catches.
  expect(inspect(error).split('\n')[0]).toContain(
    'The server was not started. Postgres cannot be reached at 127.0.0.1:1. Start the database, or correct its address.',
  )
  expect(inspect(error)).not.toMatch(/secret|ECONNREFUSED|\n +at /)
  expect(print).not.toHaveBeenCalled()
})

test('closing ends open streams once, through the handler', async () => {
  let closed = 0
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined
  const streaming = handlerOf(
    async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            stream = controller
            controller.enqueue(new TextEncoder().encode('open'))
          },
        }),
      ),
    async () => {
      closed++
      stream?.close()
    },
  )
  const { origin, close } = await serve(streaming, { port: 0 })
  const response = await fetch(origin)
  await Promise.all([close(), close()])
  expect(await response.text()).toBe('open')
  expect(closed).toBe(1)
})

test('a request that never ends is cut when the time to close is over', async () => {
  const { origin, close } = await serve(
    handlerOf(() => new Promise(() => {})),
    { port: 0, closeTimeout: 20 },
  )
  const answer = fetch(origin)
  const cut = expect(answer).rejects.toThrow()
  await close()
  await cut
})

test('the server closes although the handler fails to close, and the failure is reported', async () => {
  const failing = handlerOf(
    async () => new Response('hello'),
    async () => {
      throw new Error('cannot close')
    },
  )
  const { origin, close } = await serve(failing, { port: 0 })
  await expect(close()).rejects.toThrow('cannot close')
  await expect(fetch(origin)).rejects.toThrow()
})

test('a connection that was opened ahead of need does not delay closing', async () => {
  // There is no limit here, so this would not end if the connection were waited for.
  const { port, close } = await serve(hello, { port: 0, host: '127.0.0.1', closeTimeout: 2 ** 30 })
  const ahead = connect(port, '127.0.0.1')
  await new Promise((resolve) => ahead.once('connect', resolve))
  await (await fetch(`http://127.0.0.1:${port}/`)).text()
  const ended = new Promise((resolve) => ahead.once('close', resolve))
  ahead.on('error', () => {})
  await close()
  await ended
})
