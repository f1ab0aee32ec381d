import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createControlPlaneHandler } from '../../src/control-plane/index.ts'
import { createDevtoolsGroup } from '../../src/devtools/group.ts'
import { createAgentServer } from '../../src/index.ts'
import { scriptedDeployer } from '../control-plane/support/scripted-deployer.ts'
import { GITHUB } from '../control-plane/support/served.ts'
import { chat } from '../fixtures/graphs.ts'
import { counted } from '../kit/calls.ts'
import { PLACES } from '../kit/databases.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import type { Json } from '../kit/events.ts'
import { eventually, turns } from '../kit/wait.ts'
import { type Known, legalBodies } from './bodies/legal.ts'
import { longestTurn } from './bodies/turns.ts'
import { faces } from './faces.ts'

const SIZE = Number(process.env.SIZE ?? 200_000)
const NAME = new RegExp(process.env.NAME ?? '.')
const ONLY = new RegExp(process.env.ONLY ?? '.')

const EXAMPLES: Json = {
  'POST /a2a/{assistant_id}': {
    id: 1,
    method: 'message/send',
    params: {
      message: { kind: 'message', role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'x' }] },
    },
  },
  'POST /mcp': { id: 1, method: 'tools/call', params: { name: 'agent', arguments: {} } },
  'POST /chat': { messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }] },
  'POST /ag-ui/{agent_id}': {
    messages: [{ id: 'm', role: 'user', content: 'x' }],
    tools: [],
    state: {},
    context: [],
    forwardedProps: {},
  },
  'POST /threads/{thread_id}/stream': { channels: ['values'] },
  'POST /threads/{thread_id}/stream/events': { channels: ['values'] },
  'POST /runs/crons': { assistant_id: 'agent', schedule: '0 0 29 2 *' },
  'POST /threads/{thread_id}/runs/crons': { assistant_id: 'agent', schedule: '0 0 29 2 *' },
  'POST /v2/listeners': { compute_config: { k8s_namespaces: ['x'] } },
  'POST /v1/responses': { input: 'x' },
  'PUT /store/items': { namespace: ['a'], key: 'k' },
  'POST /store/namespaces': {},
  'POST /v2/deployments': { ...GITHUB, name: 'other' },
}

test.each(PLACES)('$name', { timeout: 900_000 }, async ({ open }) => {
  const { storage, calls, reset } = counted(await open())
  const { errors, reporters } = unexpectedErrors()
  const controlPlane = createControlPlaneHandler({
    deployer: scriptedDeployer(),
    worker: false,
    authenticate: () => ({ id: 'ann' }),
    store: storage.store,
    onError: (e) => void errors.push(e),
  })
  const server = createAgentServer({
    agents: { agent: langgraph(chat()) },
    faces,
    controlPlane,
    devtools: true,
    ...storage,
    ...reporters,
  })
  onTestFinished(() => server.close())
  const send = async (method: string, path: string, body?: string) => {
    const answer = await server.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...(body !== undefined && { body }),
      }),
    )
    if (
      answer.headers.get('content-type')?.startsWith('text/event-stream') &&
      /\/(stream|stream\/events|connect)$/.test(path) &&
      !path.includes('runs')
    ) {
      await answer.body?.cancel()
      return { status: answer.status, text: '' }
    }
    return { status: answer.status, text: await answer.text() }
  }
  const document = JSON.parse((await send('GET', '/openapi.json')).text)
  const newThread = async () => (JSON.parse((await send('POST', '/threads', '{}')).text) as Json).thread_id
  const threads: string[] = []
  for (let at = 0; at < 1_000; at++) threads.push(await newThread())
  const { body: deployment } = {
    body: JSON.parse((await send('POST', '/v2/deployments', JSON.stringify(GITHUB))).text),
  }
  const rest = async () => {
    for (let seen = -1; seen !== calls.made.length; ) {
      await eventually(async () => (await server.engine.measure()).running === 0)
      seen = calls.made.length
      await turns(5)
    }
  }
  let thread = ''
  const known: Known = (field) => {
    if (/^(assistant_?id|graph_id|model|assistant|agent_?id)$/i.test(field)) return () => 'agent'
    if (/^(thread_id|threadId)$/.test(field)) return () => thread
    if (/^(ids|thread_ids)$/.test(field))
      return (at) => (at % 2 === 0 ? threads[at % 1_000] : `unknown-${at}`)
    if (/(_id|Id)$/.test(field) && field !== 'interrupt_id' && field !== 'checkpoint_id')
      return () => randomUUID()
    return undefined
  }
  const paramOf = async (name: string, path: string): Promise<string> => {
    if (name === 'thread_id') return thread
    if (name === 'assistant_id' || name === 'agent_id') return 'agent'
    if (name === 'deployment_id') return deployment.id
    if (name === 'conversation_id')
      return (JSON.parse((await send('POST', '/v1/conversations', '{}')).text) as Json).id
    if (name === 'cron_id')
      return JSON.parse(
        (await send('POST', '/runs/crons', JSON.stringify({ assistant_id: 'agent', schedule: '0 0 29 2 *' })))
          .text,
      ).cron_id
    return randomUUID()
  }
  const devtools = createDevtoolsGroup({ engine: server.engine }).routes
  const routes = [
    ...Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      ['post', 'put', 'patch']
        .filter((m) => item[m])
        .map(
          (m) =>
            [m.toUpperCase(), path, item[m]?.requestBody?.content?.['application/json']?.schema] as const,
        ),
    ),
    ...devtools.filter(([m]) => m === 'POST').map(([m, p]) => [m, p.replace(/:(\w+)/g, '{$1}'), {}] as const),
  ]
  for (const [method, path, schema] of routes) {
    if (!ONLY.test(path)) continue
    for (const { name, make } of legalBodies(document, schema ?? {}, EXAMPLES[`${method} ${path}`], known)) {
      if (!NAME.test(name)) continue
      const t0 = performance.now()
      thread = await newThread()
      if (path.includes('{thread_id}'))
        await send('POST', `/threads/${thread}/state`, '{"values":{"messages":[]}}')
      let url = (document.paths[path]?.servers?.[0]?.url ?? '').replace(/^\/$/, '') + path
      for (const [whole, param] of path.matchAll(/\{(\w+)\}/g))
        url = url.replace(whole, await paramOf(param!, path))
      const text = JSON.stringify(make(SIZE))
      await rest()
      reset()
      const { result, longest } = await longestTurn(async () => {
        const got = await send(method, url, text)
        await rest()
        return got
      })
      appendFileSync(
        process.env.OUT ?? '/tmp/bodies.log',
        `${JSON.stringify({ ms: Math.round(longest), calls: calls.from.filter((f) => !f.includes('measure')).length, status: result.status, len: text.length, all: Math.round(performance.now() - t0), route: `${method} ${path}`, name, answer: result.status >= 400 ? result.text.slice(0, 150) : undefined })}\n`,
      )
    }
  }
  expect(errors).toEqual([])
})
