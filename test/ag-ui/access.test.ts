import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgUiHandler } from '../../src/faces/ag-ui/index.ts'
import { createAgentServer } from '../../src/index.ts'
import { approval, chat } from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { slow } from './agents.ts'
import { clientOf, GENERATIONS, serveAgents } from './rig.ts'

const authenticate = ({ headers }: Request) => {
  const [id, tenant] = headers.get('x-user')?.split('@') ?? []
  return id === undefined ? null : { id, ...(tenant !== undefined && { tenant }) }
}

const send = async (url: string, body: Json, headers: Record<string, string> = { 'x-user': 'ann' }) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  }
}

const input = (more: Json = {}): Json => ({
  threadId: crypto.randomUUID(),
  runId: crypto.randomUUID(),
  messages: [{ id: crypto.randomUUID(), role: 'user', content: 'Hello' }],
  ...more,
})

test('threads of others are unknown: to runs, to connects and to stops', async () => {
  const { agent, open } = slow()
  const { base } = await serveAgents({ agent }, { authenticate })
  const client = clientOf(GENERATIONS[0], base, { headers: { 'x-user': 'ann@acme' } })
  client.say('Hello')
  const running = client.agent.runAgent()
  const { threadId } = client
  const others = ['bob@acme', 'ann@other', 'ann']
  const known = async (user: string) => {
    const headers = { 'x-user': user }
    const run = await send(`${base}/agent`, input({ threadId }), headers)
    const { text } = await send(`${base}/agent/agent/connect`, input({ threadId }), headers)
    const stop = await send(`${base}/agent/agent/stop/${threadId}`, {}, headers)
    return { run: run.status, connect: text.includes('data:'), stop: stop.body }
  }
  while (!client.types().includes('TEXT_MESSAGE_CONTENT')) await new Promise(setImmediate)
  // Who shares the tenant shares its threads.
  for (const user of others.slice(1))
    expect(await known(user)).toEqual({ run: 404, connect: false, stop: { stopped: false } })
  const { text } = await send(`${base}/agent/agent/stop/${threadId}`, {}, { 'x-user': others[0]! })
  expect(JSON.parse(text)).toEqual({ stopped: true })
  open()
  await running
  expect((await send(`${base}/agent`, input({ threadId }), {})).status).toBe(401)
})

test('authorize is asked for what each route does, with the thread and the agent', async () => {
  const asked: Json[] = []
  const { base } = await serveAgents(
    { agent: langgraph(chat()) },
    {
      authorize: async (_, action, resource) => {
        asked.push([action, resource])
        return action !== 'runs:create' || resource.threadId !== 'no'
      },
    },
  )
  await send(`${base}/agent`, input({ threadId: 't' }))
  await send(`${base}/agent/agent/connect`, input({ threadId: 't' }))
  await send(`${base}/agent/agent/stop/t`, {})
  await fetch(`${base}/info`)
  const resource = { threadId: 't', assistantId: 'agent' }
  expect(asked).toEqual([
    ['runs:create', resource],
    ['threads:stream', resource],
    ['runs:cancel', resource],
    ['assistants:search', {}],
  ])
  expect((await send(`${base}/agent`, input({ threadId: 'no' }))).status).toBe(403)
})

test('what is no input is refused with the place of the error, and changes nothing', async () => {
  const { base, engine } = await serveAgents({ agent: langgraph(chat()) })
  const refused: readonly (readonly [Json, string])[] = [
    [{}, 'threadId'],
    [input({ runId: 7 }), 'runId'],
    [input({ threadId: '__proto__' }), 'thread id'],
    [input({ messages: 'Hello' }), 'messages'],
    [input({ messages: [{ role: 'user' }] }), 'messages.0.id'],
    [input({ messages: [{ id: 'm', role: 'user', content: { text: 'Hello' } }] }), 'messages.0'],
    [input({ tools: [{ description: 'Nameless.' }] }), 'tools.0.name'],
    [input({ resume: [{ interruptId: 'i', status: 'maybe' }] }), 'resume.0.status'],
  ]
  for (const [body, place] of refused) {
    const answer = await send(`${base}/agent`, body)
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(place)])
  }
  expect((await send(`${base}/nobody`, input())).status).toBe(404)
  expect((await send(`${base}/agent/nobody/connect`, input())).status).toBe(404)
  expect((await send(`${base}/agent`, input({ state: 'x'.repeat(5_000_000) }))).status).toBe(413)
  expect(await engine.countThreads({ principal: { id: 'ann' } })).toBe(0)
})

test('null is nothing where a client may leave something out', async () => {
  const { base } = await serveAgents({ agent: langgraph(chat()) })
  const body = input({ state: null, tools: null, context: null, forwardedProps: null, resume: null })
  expect((await send(`${base}/agent`, body)).text).toContain('RUN_FINISHED')
})

test('a thread of another agent is refused to runs, and unknown to connects', async () => {
  const { base } = await serveAgents({ agent: langgraph(chat()), other: langgraph(approval()) })
  const body = input()
  await send(`${base}/agent`, body)
  expect((await send(`${base}/agent/other/connect`, body)).text).not.toContain('data:')
  const answer = await send(`${base}/other`, input({ threadId: body.threadId }))
  expect([answer.status, answer.text.includes('RUN_FINISHED')]).not.toEqual([200, true])
})

test('pages of other origins may call where the server says so, and only there', async () => {
  const open = await serveAgents(
    { agent: langgraph(chat()) },
    { http: { cors: { origins: ['http://page.test'] } } },
  )
  const origin = { origin: 'http://page.test' }
  const { status, headers } = await send(`${open.base}/agent`, input(), origin)
  expect([status, headers.get('access-control-allow-origin')]).toEqual([200, 'http://page.test'])
  // A browser sends such a request without asking first.
  const unasked = { origin: 'http://other.test', 'content-type': 'text/plain' }
  for (const path of ['agent', 'agent/agent/run', 'agent/agent/connect', 'agent/agent/stop/t'])
    expect((await send(`${open.base}/${path}`, input(), unasked)).status).toBe(403)
})

test('the agents are listed, with what they can do', async () => {
  const { base } = await serveAgents({ agent: langgraph(chat(), { description: 'Talks.' }) })
  const info = (await (await fetch(`${base}/info`)).json()) as Json
  expect(info).toMatchObject({
    mode: 'sse',
    agents: {
      agent: { name: 'agent', description: 'Talks.', capabilities: { tools: { clientProvided: true } } },
    },
  })
})

test('the routes are in the OpenAPI document, and are there only where the face is mounted', async () => {
  const { origin } = await serveAgents({ agent: langgraph(chat()) })
  const { paths } = (await (await fetch(`${origin}/openapi.json`)).json()) as Json
  expect(paths['/ag-ui/{agent_id}'].post.requestBody).toBeDefined()
  const server = createAgentServer({ agents: { agent: langgraph(chat()) }, authenticate: () => null })
  expect((await server.fetch(new Request('http://127.0.0.1/ag-ui/info'))).status).toBe(404)
  await server.close()
})

test('the face is served alone, under a prefix', async () => {
  const handler = createAgUiHandler({
    agents: { agent: langgraph(chat()) },
    authenticate: () => ({ id: 'ann' }),
    agUi: { basePath: '/api' },
  })
  const response = await handler.fetch(
    new Request('http://127.0.0.1/api/ag-ui/agent', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input()),
    }),
  )
  expect(await response.text()).toContain('Hello to you.')
  await handler.close()
})
