import { createServer } from 'node:http'
import express from 'express'
import createFastify from 'fastify'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { toExpress } from '../../adapters/express.ts'
import { toFastify } from '../../adapters/fastify.ts'
import { toHono } from '../../adapters/hono.ts'
import { toNext } from '../../adapters/next.ts'
import type { HandlerContext, WebHandler } from '../../src/core/http/types.ts'
import { openServer } from '../kit/listen.ts'

function handlerOf(answer: (request: Request, context: HandlerContext) => Promise<Response>): WebHandler {
  const ask = (request: Request, context: HandlerContext = {}) => answer(request, context)
  return { routes: async () => [], fetch: ask, handle: ask, close: async () => {} }
}

const urls = handlerOf(async (request) => new Response(request.url))
const bodies = handlerOf(async (request) => new Response(await request.text()))
const bases = handlerOf(async (_request, { basePath }) => new Response(basePath ?? 'none'))

function stream(cancelled: () => void): Response {
  return new Response(new ReadableStream({ cancel: cancelled }), { headers: { 'x-kept': 'yes' } })
}

test.each([true, false])(
  'express: forwarded headers count where the proxy setting trusts the sender (%s)',
  async (trusted) => {
    const app = express()
    app.set('trust proxy', () => trusted)
    app.use(toExpress(urls))
    const { origin, close } = await openServer(createServer(app))
    const headers = { 'x-forwarded-host': 'public.example', 'x-forwarded-proto': 'https' }
    const response = await fetch(`${origin}/x`, { headers })
    expect(await response.text()).toBe(trusted ? 'https://public.example/x' : `${origin}/x`)
    await close()
  },
)

test('express: nested routers are one base path', async () => {
  const inner = express.Router()
  inner.use('/agent', toExpress(bases))
  const app = express().use('/api/:tenant', inner)
  const { origin, close } = await openServer(createServer(app))
  expect(await (await fetch(`${origin}/api/a%20b/agent/x`)).text()).toBe('/api/a%20b/agent')
  await close()
})

test('fastify: the rest of the app keeps its body parsers, and closing it closes the handler', async () => {
  let closed = 0
  const app = createFastify()
  await app.register(toFastify({ ...bodies, close: async () => void closed++ }), { prefix: '/agent' })
  app.post('/parsed', async (request) => request.body)
  const parsed = await app.inject({ method: 'POST', url: '/parsed', payload: { a: 1 } })
  expect(parsed.json()).toEqual({ a: 1 })
  const passed = await app.inject({ method: 'POST', url: '/agent/x', payload: { a: 1 } })
  expect(passed.body).toBe('{"a":1}')
  await app.close()
  expect(closed).toBe(1)
})

test('fastify: an instance of HTTP/2 takes the plugin', async () => {
  const app = createFastify({ http2: true })
  await app.register(toFastify(urls))
  await app.close()
})

test('fastify: the failure of a handler is logged', async () => {
  const lines: string[] = []
  const app = createFastify({
    logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } },
  })
  const failing = handlerOf(async () => {
    throw new Error('no answer')
  })
  await app.register(toFastify(failing))
  const { statusCode, body } = await app.inject('/x')
  expect([statusCode, JSON.parse(body).error]).toEqual([500, 'internal_error'])
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { err: { message: 'no answer' }, id: JSON.parse(body).id },
  ])
  await app.close()
})

test('hono: a body that a middleware has read is read again', async () => {
  const app = new Hono()
  app.use(async (c, next) => {
    await c.req.text()
    await next()
  })
  app.route('/', toHono(bodies))
  const response = await app.request('/x', { method: 'POST', body: '{"not": json' })
  expect(await response.text()).toBe('{"not": json')
})

test('hono: the base path is the mount path with its parameters filled in', async () => {
  const app = new Hono().route('/t/:tenant', new Hono().route('/agent', toHono(bases)))
  expect(await (await app.request('/t/a/agent/x')).text()).toBe('/t/a/agent')
  expect(await (await new Hono().route('/', toHono(bases)).request('/x')).text()).toBe('none')
})

test('hono: work that outlives the answer is given to the runtime', async () => {
  const kept: Promise<unknown>[] = []
  const working = handlerOf(async (_request, { waitUntil }) => {
    waitUntil?.(Promise.resolve('done'))
    return new Response(String(waitUntil !== undefined))
  })
  const app = new Hono().route('/', toHono(working))
  const runtime = {
    waitUntil: (work: Promise<unknown>) => void kept.push(work),
    passThroughOnException() {},
    props: {},
  }
  const response = await app.fetch(new Request('http://a/x'), {}, runtime)
  expect(await response.text()).toBe('true')
  expect(await Promise.all(kept)).toEqual(['done'])
  expect(await (await app.request('/x')).text()).toBe('false')
})

test.each(['hono', 'next'])('%s: HEAD cancels the body and keeps the headers', async (name) => {
  let cancelled = 0
  const handler = handlerOf(async () => stream(() => cancelled++))
  const request = new Request('http://a/x', { method: 'HEAD' })
  const answer =
    name === 'next' ? toNext(handler).GET(request) : new Hono().route('/', toHono(handler)).request(request)
  const response = await answer
  expect([response.headers.get('x-kept'), response.body, cancelled]).toEqual(['yes', null, 1])
})

test('next: the body is cancelled when the client left before it came', async () => {
  let cancelled = 0
  const leaving = new AbortController()
  const handler = handlerOf(async () => {
    leaving.abort()
    return stream(() => cancelled++)
  })
  await toNext(handler).GET(new Request('http://a/x', { signal: leaving.signal }))
  expect(cancelled).toBe(1)
})

test('next: every method calls the handler with the base path of the folder', async () => {
  const methods = toNext(bases, { basePath: '/agent' })
  expect(Object.keys(methods)).toEqual(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
  for (const method of Object.values(methods)) {
    expect(await (await method(new Request('http://a/agent/x'))).text()).toBe('/agent')
  }
})
