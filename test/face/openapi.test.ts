import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { runServerAudits } from '../../src/audit/index.ts'
import { createControlPlaneHandler } from '../../src/control-plane/index.ts'
import { createFace, type FaceSetup, route } from '../../src/faces/kit/index.ts'
import { createAgentServer, type WebHandler } from '../../src/index.ts'
import { audited, functions } from '../conformance/audited/agents.ts'
import { scriptedDeployer } from '../control-plane/support/scripted-deployer.ts'
import type { Json } from '../kit/events.ts'
import { checkerOf, type Exchange } from '../kit/openapi.ts'
import { requestOf } from '../platform/requests.ts'
import { anything } from '../threads/arbitraries.ts'
import { serve } from '../threads/local.ts'

async function documentOf(server: WebHandler, path = '/openapi.json', headers = {}): Promise<Json> {
  const response = await server.fetch(new Request(`http://127.0.0.1${path}`, { headers }))
  expect(response.status).toBe(200)
  return response.json()
}

/** A server whose exchanges are collected. Streams are passed on. */
function collecting(server: WebHandler) {
  const exchanges: Exchange[] = []
  const ask = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    const text = await request.clone().text()
    const response = await server.fetch(request)
    const type = response.headers.get('content-type')
    const isJson = type?.startsWith('application/json')
    const answer = isJson ? await response.clone().text() : ''
    exchanges.push({
      method: request.method,
      pathname: new URL(request.url).pathname,
      body: parsed(text),
      status: response.status,
      type,
      answer: parsed(answer),
    })
    return response
  }
  return { exchanges, ask }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

test('every route of a server is in its document, which is public', async () => {
  const authenticate = Object.assign(() => null, {
    schemes: { key: { type: 'http', scheme: 'bearer' } },
  } as const)
  const server = createAgentServer({ agents: functions, authenticate })
  const document = await documentOf(server)
  const { operationOf } = checkerOf(document)
  const missing = (await server.routes()).filter(
    ([method, pattern]) => operationOf({ method, pathname: pattern })?.summary === undefined,
  )
  expect(missing.map(([method, pattern]) => `${method} ${pattern}`)).toEqual([])
  expect(document).toMatchObject({ openapi: '3.1.0', security: [{ key: [] }], servers: [{ url: '/' }] })
  expect(document.paths['/ok'].get.security).toEqual([])
  expect(document.paths['/threads/{thread_id}/stream'].get.responses).toMatchObject({ 101: {}, 200: {} })
  await server.close()
})

test('it is below the base path, and turned off with /ok and /info', async () => {
  const server = createAgentServer({
    agents: functions,
    threads: { basePath: '/api' },
    a2a: { basePath: '/b' },
  })
  const document = await documentOf(server, '/api/openapi.json')
  expect(document.servers).toEqual([{ url: '/api' }])
  expect(document.paths['/threads'].servers).toBeUndefined()
  expect(document.paths['/a2a/{assistant_id}'].servers).toEqual([{ url: '/b' }])
  const mounted = await server.fetch(new Request('http://127.0.0.1/x/openapi.json'), { basePath: '/x' })
  expect((await mounted.json()).paths['/a2a/{assistant_id}'].servers).toBeUndefined()
  await server.close()
  const off = createAgentServer({ agents: functions, http: { disable_meta: true } })
  expect((await off.fetch(new Request('http://127.0.0.1/openapi.json'))).status).toBe(404)
  await off.close()
})

test('a face describes its own routes, and the control plane adds its document', async () => {
  const face = (setup: FaceSetup) =>
    createFace(setup, {
      routes: [
        route('GET', '/mine/:id', {
          permission: 'public',
          summary: 'Mine.',
          answers: { 200: { type: 'string' } },
          run: async () => new Response(),
        }),
        route('GET', '/plain', { permission: 'public', run: async () => new Response() }),
      ],
    })
  const controlPlane = createControlPlaneHandler({
    deployer: scriptedDeployer(),
    worker: false,
    authenticate: () => ({ id: 'ann' }),
  })
  const server = createAgentServer({ agents: functions, faces: [face], controlPlane })
  const { paths } = await documentOf(server)
  expect(paths['/mine/{id}'].get).toMatchObject({ summary: 'Mine.' })
  expect(paths['/mine/{id}'].parameters).toMatchObject([{ name: 'id', in: 'path' }])
  expect(paths['/plain'].get.responses.default).toBeDefined()
  expect(paths['/v2/deployments'].get).toBeDefined()
  await server.close()
})

test('every answer of the audits of a server is as the document says', { timeout: 240_000 }, async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const server = createAgentServer({ agents: functions, onError() {} })
  const { exchanges, ask } = collecting(server)
  const checker = checkerOf(await documentOf(server))
  await runServerAudits({
    baseUrl: 'http://127.0.0.1',
    fetch: ask,
    ...audited,
    timeoutMs: 200_000,
    concurrency: 8,
  })
  expect(exchanges.length).toBeGreaterThan(100)
  const known = exchanges.filter((one) => checker.operationOf(one))
  expect(known.length).toBeGreaterThan(100)
  expect(known.flatMap((one) => problemsOf(checker, one))).toEqual([])
  await server.close()
})

test('any body that is taken fits its schema, and any answer', { timeout: 240_000 }, async () => {
  const { server } = serve()
  const checker = checkerOf(await documentOf(server))
  const rest = (await server.routes())
    .filter(([, pattern]) => /^\/(runs|assistants|store)|\/runs/.test(pattern))
    // Those wait for runs that may begin in a week.
    .filter(([, pattern]) => !/wait|join|stream/.test(pattern))
    .map(([method, pattern]) => requestOf(method, pattern))
  const { exchanges, ask } = collecting(server)
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.oneof(anything, fc.oneof(...rest)), async ({ method, path, body, headers }) => {
      const before = exchanges.length
      const response = await ask(`http://127.0.0.1${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(method !== 'GET' && method !== 'HEAD' && body !== undefined && { body }),
      })
      void response.body?.cancel()
      for (const one of exchanges.slice(before)) {
        if (method === 'HEAD' || !checker.operationOf(one)) continue
        expect(problemsOf(checker, one)).toEqual([])
        if (one.status < 400) seen.add(`${method} ${path.split('?')[0]}`)
      }
    }),
    { numRuns: 500, endOnFailure: true },
  )
  expect(seen.size).toBeGreaterThan(20)
})

/** What is not as the document says it. A body in camelCase is taken and not described. */
function problemsOf(checker: ReturnType<typeof checkerOf>, exchange: Exchange): readonly object[] {
  const answer = checker.answerProblem(exchange)
  const isTaken = exchange.status < 400 && (exchange.answer as Json)?.type !== 'error'
  const isSnake = () => !/"[a-z_]+[A-Z]\w*":/.test(JSON.stringify(exchange.body) ?? '')
  const body = isTaken && isSnake() ? checker.bodyProblem(exchange) : undefined
  return answer || body ? [{ answer, sent: body, exchange: JSON.stringify(exchange).slice(0, 2_000) }] : []
}
