import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import express from 'express'
import { afterEach, expect, test, vi } from 'vitest'
import { toExpress } from '../../adapters/express.ts'
import { toNode } from '../../adapters/node.ts'
import type { WebHandler } from '../../src/core/http/types.ts'
import { connect } from '../conformance/connect.ts'
import { openServer } from '../kit/listen.ts'
import { turns } from '../kit/wait.ts'

type Ask = WebHandler['handle']

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0)) await close()
})

function handlerOf(handle: Ask): WebHandler {
  const fetch: WebHandler['fetch'] = async (request, context) =>
    (await handle(request, context)) ?? new Response('ours', { status: 404 })
  return { routes: async () => [], handle, fetch, close: async () => {} }
}

const texts = handlerOf(async (request, context) =>
  Response.json({ text: await request.text(), parsedBody: context?.parsedBody }),
)

async function start(listener: RequestListener): Promise<string> {
  const { origin, close } = await openServer(createServer(listener))
  opened.push(close)
  return origin
}

/** Sends raw text and gives all that comes back until the connection ends. */
async function raw(origin: string, text: string): Promise<string> {
  const { hostname, port } = new URL(origin)
  const socket = connect({ hostname, port: Number(port) })
  await socket.writable.getWriter().write(new TextEncoder().encode(text))
  let answer = ''
  for await (const chunk of socket.readable) answer += new TextDecoder().decode(chunk)
  return answer
}

test('the listener fits the servers of http, https and http2', () => {
  const listener = toNode(texts)
  for (const server of [createServer(listener), createHttpsServer(listener), createHttp2Server(listener)]) {
    expect(server.listenerCount('request')).toBe(1)
  }
})

test('TRACE is answered 405, because a Request cannot have that method', async () => {
  const origin = await start(toNode(texts))
  const answer = await raw(origin, 'TRACE / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1.1 405 /)
  expect(answer).toContain('allow: GET, HEAD, POST')
})

test('HTTP/1.0 without a host is answered', async () => {
  const origin = await start(toNode(handlerOf(async (request) => new Response(request.url))))
  const answer = await raw(origin, 'GET /x HTTP/1.0\r\n\r\n')
  expect(answer).toMatch(/http:\/\/localhost\/x$/)
})

test('a forwarded host that is malformed is refused', async () => {
  const origin = await start(toNode(texts, { trustProxy: true }))
  const response = await fetch(origin, { headers: { 'x-forwarded-host': 'a@b' } })
  expect([response.status, (await response.json()).error]).toEqual([400, 'invalid_target'])
})

test('a request that no route matches is passed to `next` unchanged', async () => {
  const listener = toNode(handlerOf(async () => undefined))
  const left: number[] = []
  const origin = await start((req: IncomingMessage, res: ServerResponse) => {
    const before = res.listenerCount('close') + res.listenerCount('error')
    listener(req, res, () => {
      left.push(res.listenerCount('close') + res.listenerCount('error') - before)
      req.pipe(res)
    })
  })
  const response = await fetch(origin, { method: 'POST', body: 'untouched' })
  expect(await response.text()).toBe('untouched')
  expect(left).toEqual([0])
})

test('a body that something else has read is an error at once', async () => {
  const listener = toNode(
    handlerOf(async (request) => {
      const error = await request.text().catch((reason) => reason)
      return Response.json({ code: error.code })
    }),
  )
  const origin = await start((req: IncomingMessage, res: ServerResponse) => {
    req.resume().on('end', () => listener(req, res))
  })
  const response = await fetch(origin, { method: 'POST', body: 'gone' })
  expect(await response.json()).toEqual({ code: 'body_already_read' })
})

test('a body that express has parsed is given as the parsed body, and serialized for a reader of the request', async () => {
  const app = express()
  app.use('/form', express.urlencoded({ extended: false }))
  app.use('/text', express.text({ type: '*/*' }))
  app.use('/raw', express.raw({ type: '*/*' }))
  app.use(toExpress(texts))
  const origin = await start(app)
  const post = async (path: string, type: string, body: string) =>
    (await fetch(origin + path, { method: 'POST', headers: { 'content-type': type }, body })).json()

  const form = 'application/x-www-form-urlencoded'
  expect(await post('/form', form, 'a=1&b=x+y&b=%26')).toEqual({
    text: 'a=1&b=x+y&b=%26',
    parsedBody: { a: '1', b: ['x y', '&'] },
  })
  expect(await post('/text', 'application/json', '{"a":')).toEqual({ text: '{"a":' })
  expect(await post('/raw', 'application/json', 'é')).toEqual({ text: 'é' })
})

test('a failure is reported to onError, which cannot change the answer', async () => {
  const told: unknown[] = []
  const failing = handlerOf(async () => {
    throw new Error('no answer')
  })
  const onError = (error: unknown, { id }: { id: string }) => {
    told.push(error, id)
    throw new Error('no reporter either')
  }
  const origin = await start(toNode(failing, { onError }))
  const response = await fetch(origin)
  const body = await response.json()
  expect([response.status, body.error]).toEqual([500, 'internal_error'])
  expect(told).toEqual([new Error('no answer'), body.id])
})

test('without onError a failure is written to the console', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const origin = await start(toNode(handlerOf(async () => undefined as never)))
  const failing = await start(
    toNode(
      handlerOf(async () => {
        throw new Error('no answer')
      }),
    ),
  )
  expect((await fetch(origin)).status).toBe(404)
  expect(error).not.toHaveBeenCalled()
  expect((await fetch(failing)).status).toBe(500)
  expect(error).toHaveBeenCalledExactlyOnceWith(expect.any(String), new Error('no answer'))
  error.mockRestore()
})

test('a handler that stops because its client left is not reported as a failure', async () => {
  const told: unknown[] = []
  let began = () => {}
  const begun = new Promise<void>((resolve) => {
    began = resolve
  })
  let stopped = () => {}
  const done = new Promise<void>((resolve) => {
    stopped = resolve
  })
  const waiting = handlerOf(
    (_request, context) =>
      new Promise((_resolve, reject) => {
        context?.signal?.addEventListener('abort', () => {
          reject(context.signal?.reason)
          stopped()
        })
        began()
      }),
  )
  const origin = await start(toNode(waiting, { onError: (error) => told.push(error) }))
  const { hostname, port } = new URL(origin)
  const socket = connect({ hostname, port: Number(port) })
  await socket.writable.getWriter().write(new TextEncoder().encode('GET / HTTP/1.1\r\nhost: a\r\n\r\n'))
  await begun
  await socket.close()
  await done
  await turns()
  expect(told).toEqual([])
})

test('status text is sent over HTTP/1', async () => {
  const origin = await start(toNode(handlerOf(async () => new Response('', { statusText: 'Quite Right' }))))
  expect((await fetch(origin)).statusText).toBe('Quite Right')
})
