import { createServer, request as httpRequest } from 'node:http'
import { connect, createServer as createHttp2 } from 'node:http2'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import express4 from 'express4'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { toExpress } from '../../adapters/express.ts'
import { toFastify } from '../../adapters/fastify.ts'
import type { WebHandler } from '../../src/core/http/types.ts'
import {
  expressThreadMetadata,
  fastifyThreadMetadata,
  honoThreadMetadata,
  nextThreadMetadata,
} from '../../src/models/tracing/thread/middleware.ts'
import { listen, openServer } from '../kit/listen.ts'

const attached: string[] = []
const options = {
  attach: (attributes: object, threadId: string) => void attached.push(threadId, ...Object.keys(attributes)),
}
const found = ['t-1', 'langsmith.metadata.thread_id', 'gen_ai.conversation.id']

const body = JSON.stringify({
  jsonrpc: '2.0',
  metadata: { thread_id: 't-1' },
  params: { text: 'ü'.repeat(40_000) },
})
const json = { 'content-type': 'application/json' }

const echo = async (request: Request) => new Response(await request.text())
const handler: WebHandler = { routes: async () => [], fetch: echo, handle: echo, close: async () => {} }

beforeEach(() => void (attached.length = 0))

async function serve(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const { origin, close } = await openServer(createServer(listener))
  onTestFinished(close)
  return origin
}

/** Sends the body in pieces and without a length. */
function chunked(): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(body)
  let at = 0
  return new ReadableStream({
    pull(to) {
      if (at >= bytes.length) return to.close()
      to.enqueue(bytes.subarray(at, (at += 30_000)))
    },
  })
}

async function post(
  origin: string,
  given: BodyInit = body,
  headers: Record<string, string> = json,
): Promise<string> {
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body: given, duplex: 'half' }
  return (await fetch(`${origin}/a2a/agent`, init)).text()
}

describe.each([
  ['express 5', express],
  ['express 4', express4 as unknown as typeof express],
])('%s', (_, create) => {
  const middleware = () => expressThreadMetadata(options)

  test.each([
    ['a handler that reads the stream', () => create().use(middleware()).use(toExpress(handler))],
    [
      'a parser after it',
      () =>
        create()
          .use(middleware())
          .use(create.json({ limit: '1mb' }))
          .post('/a2a/agent', (req: { body: unknown }, res: { send(text: string): void }) =>
            res.send(JSON.stringify(req.body)),
          ),
    ],
    [
      'a parser before it',
      () =>
        create()
          .use(create.json({ limit: '1mb' }))
          .use(middleware())
          .use(toExpress(handler)),
    ],
    [
      'a text parser before it',
      () =>
        create()
          .use(create.text({ type: '*/*', limit: '1mb' }))
          .use(middleware())
          .use(toExpress(handler)),
    ],
  ])('%s has the body', async (_, app) => {
    const origin = await serve(app())
    expect(await post(origin)).toBe(body)
    expect(attached).toEqual(found)
    expect(await post(origin, chunked())).toBe(body)
    expect(attached).toEqual([...found, ...found])
  })

  test('other requests pass unchanged', async () => {
    const origin = await serve(create().use(middleware()).use(toExpress(handler)))
    expect(await post(origin, 'metadata', { 'content-type': 'text/plain' })).toBe('metadata')
    expect(await post(origin, '', json)).toBe('')
    expect(await post(origin, '{"metadata":')).toBe('{"metadata":')
    expect((await fetch(origin)).status).toBe(200)
    expect(attached).toEqual([])
  })

  test('a body that is too long passes whole, and nothing of it is kept', async () => {
    const origin = await serve(
      create()
        .use(expressThreadMetadata({ ...options, maxBytes: 1000 }))
        .use(toExpress(handler)),
    )
    expect(await post(origin)).toBe(body)
    expect(await post(origin, chunked())).toBe(body)
    expect(attached).toEqual([])
  })

  test('a client that leaves in the middle does not hold the request', async () => {
    let passed = () => {}
    const came = new Promise<void>((resolve) => (passed = resolve))
    const app = create()
      .use(middleware())
      .use((_req: unknown, res: { end(): void }) => {
        passed()
        res.end()
      })
    const origin = await serve(app)
    const request = httpRequest(`${origin}/`, { method: 'POST', headers: { ...json, 'content-length': 100 } })
    request.on('error', () => {})
    request.write('{"meta', () => request.destroy())
    await came
    expect(attached).toEqual([])
  })
})

test('express over HTTP/2: a body of known length can be read again', async () => {
  const middleware = expressThreadMetadata(options)
  const server = createHttp2((req, res) => {
    middleware(req, res, async () => {
      let text = ''
      for await (const chunk of req.setEncoding('utf8')) text += chunk
      res.end(text)
    })
  })
  const client = connect(`http://127.0.0.1:${await listen(server)}`)
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  const send = async (headers: Record<string, string>) => {
    const stream = client.request({ ':method': 'POST', ':path': '/', ...json, ...headers })
    stream.end(body)
    let text = ''
    for await (const chunk of stream.setEncoding('utf8')) text += chunk
    return text
  }
  expect(await send({ 'content-length': String(Buffer.byteLength(body)) })).toBe(body)
  expect(attached).toEqual(found)
  expect(await send({})).toBe(body)
  expect(attached).toEqual(found)
})

describe('fastify', () => {
  async function app() {
    const instance = createFastify()
    await instance.register(fastifyThreadMetadata(options))
    return instance
  }

  test('a route may have a parser of its own', async () => {
    const instance = await app()
    instance.post('/a2a/agent', async ({ body }) => body)
    const answer = await instance.inject({ method: 'POST', url: '/a2a/agent', headers: json, payload: body })
    expect(JSON.stringify(answer.json())).toBe(body)
    expect(attached).toEqual(found)
    await instance.close()
  })

  test('a handler may read the stream itself', async () => {
    const instance = await app()
    await instance.register(toFastify(handler))
    const origin = await instance.listen({ port: 0, host: '127.0.0.1' })
    expect(await post(origin)).toBe(body)
    expect(await post(origin, chunked())).toBe(body)
    expect(attached).toEqual([...found, ...found])
    await instance.close()
  })
})

describe('hono', () => {
  const created = () => new Hono().use(honoThreadMetadata(options))

  test.each([
    ['nobody read before', () => created()],
    [
      'json was read before',
      () =>
        new Hono()
          .use(async (c, next) => {
            await c.req.json()
            await next()
          })
          .use(honoThreadMetadata(options)),
    ],
  ])('%s: the body is there', async (_, create) => {
    const app = create()
    app.post('/a2a/agent', async (c) => c.text(await c.req.text()))
    const request = () => new Request('http://localhost/a2a/agent', { method: 'POST', headers: json, body })
    expect(JSON.parse(await (await app.fetch(request())).text())).toEqual(JSON.parse(body))
    expect(attached).toEqual(found)
    const origin = await serve(getRequestListener(app.fetch))
    expect(JSON.parse(await post(origin))).toEqual(JSON.parse(body))
    expect(attached).toEqual([...found, ...found])
  })

  test('a body that was read without Hono is not seen', async () => {
    const app = new Hono()
      .use(async (c, next) => {
        await c.req.raw.text()
        await next()
      })
      .use(honoThreadMetadata(options))
    app.post('/a2a/agent', (c) => c.text('passed'))
    const answer = await app.request('/a2a/agent', { method: 'POST', headers: json, body })
    expect(await answer.text()).toBe('passed')
    expect(attached).toEqual([])
  })
})

test('next: a route gets the request and the other arguments of Next', async () => {
  const route = nextThreadMetadata(
    async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
      Response.json({ text: await request.text(), id: (await params).id }),
    options,
  )
  const request = new Request('http://localhost/a2a/agent', { method: 'POST', headers: json, body })
  const response = await route(request, { params: Promise.resolve({ id: 'agent' }) })
  expect(await response.json()).toEqual({ text: body, id: 'agent' })
  expect(attached).toEqual(found)
})
