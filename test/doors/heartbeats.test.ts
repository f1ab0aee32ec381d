import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createControlPlaneHandler } from '../../src/control-plane/index.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { scriptedDeployer } from '../control-plane/support/scripted-deployer.ts'
import { GITHUB } from '../control-plane/support/served.ts'
import type { Json } from '../kit/events.ts'
import { createHttpxReader, type DispatchedEvent } from '../kit/httpx-sse.ts'
import { eventually, gate } from '../kit/wait.ts'
import { faces } from './faces.ts'

/** Heartbeats on every stream, as clients read them. */

const RUN = { assistant_id: 'agent', input: { messages: [{ role: 'user', content: 'hi' }] } }
const PROMPT = { role: 'user', content: 'hi' }
const TEXT = 'text/event-stream, application/json'

interface Place {
  readonly threadId: string
  readonly post: (path: string, body: Json, headers?: Record<string, string>) => Promise<Response>
  readonly get: (path: string) => Promise<Response>
}

const taskMethod =
  (version: string, method: string) =>
  ({ post, threadId }: Place) =>
    post(
      '/a2a/agent',
      {
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          message:
            version === '1.0'
              ? { messageId: threadId, role: 'ROLE_USER', parts: [{ text: 'hi' }] }
              : { kind: 'message', messageId: threadId, role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
        },
      },
      { 'a2a-version': version, accept: TEXT },
    )

const agUiInput = ({ threadId }: Place): Json => ({
  threadId,
  runId: randomUUID(),
  messages: [{ id: randomUUID(), ...PROMPT }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
})

/** A run that the engine has begun on the thread of the place. */
async function begun({ post, threadId }: Place): Promise<string> {
  const response = await post(`/threads/${threadId}/runs`, { ...RUN, if_not_exists: 'create' })
  return (await response.json()).run_id
}

const STREAMS: Readonly<Record<string, (place: Place) => Promise<Response>>> = {
  'POST /threads/{thread_id}/stream': async (at) => {
    await begun(at)
    return at.post(`/threads/${at.threadId}/stream`, { channels: ['messages', 'lifecycle'] })
  },
  'GET /threads/{thread_id}/stream': async (at) => {
    await begun(at)
    return at.get(`/threads/${at.threadId}/stream`)
  },
  'POST /threads/{thread_id}/stream/events': async (at) => {
    await begun(at)
    return at.post(`/threads/${at.threadId}/stream/events`, { channels: ['messages', 'lifecycle'] })
  },
  'POST /threads/{thread_id}/runs/stream': (at) =>
    at.post(`/threads/${at.threadId}/runs/stream`, { ...RUN, if_not_exists: 'create' }),
  'GET /threads/{thread_id}/runs/{run_id}/stream': async (at) =>
    at.get(`/threads/${at.threadId}/runs/${await begun(at)}/stream`),
  'POST /runs/stream': (at) => at.post('/runs/stream', RUN),
  'GET /runs/{run_id}/stream': async (at) => {
    const run = await at.post('/runs', RUN)
    return at.get(`/runs/${(await run.json()).run_id}/stream`)
  },
  'POST /a2a/{assistant_id}': taskMethod('0.3', 'message/stream'),
  'POST /a2a/{assistant_id} 1.0': taskMethod('1.0', 'SendStreamingMessage'),
  'POST /ag-ui/{agent_id}': (at) => at.post('/ag-ui/agent', agUiInput(at), { accept: TEXT }),
  'POST /ag-ui/agent/{agent_id}/run': (at) =>
    at.post('/ag-ui/agent/agent/run', agUiInput(at), { accept: TEXT }),
  'POST /ag-ui/agent/{agent_id}/connect': async (at) => {
    await begun(at)
    return at.post('/ag-ui/agent/agent/connect', { ...agUiInput(at), messages: [] }, { accept: TEXT })
  },
  'POST /chat': ({ post, threadId }) =>
    post('/api/chat', {
      id: threadId,
      trigger: 'submit-message',
      messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    }),
  'GET /chat/{thread_id}/stream': async (at) => {
    await begun(at)
    return at.get(`/api/chat/${at.threadId}/stream`)
  },
  'POST /mcp': ({ post }) =>
    post(
      '/mcp',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'agent', arguments: { message: 'hi' } },
      },
      { accept: TEXT, 'mcp-protocol-version': '2025-06-18' },
    ),
  'POST /v1/chat/completions': ({ post }) =>
    post('/v1/chat/completions', { model: 'agent', messages: [PROMPT], stream: true }),
  'POST /v1/responses': ({ post }) => post('/v1/responses', { model: 'agent', input: 'hi', stream: true }),
  'GET /v1/responses/{response_id}': async ({ post, get }) => {
    const response = await post('/v1/responses', { model: 'agent', input: 'hi', background: true })
    return get(`/v1/responses/${(await response.json()).id}?stream=true`)
  },
  // The control plane and the devtools have documents of their own.
  'GET /v2/deployments/{deployment_id}/events': async ({ post, get }) => {
    const deployment = await (await post('/v2/deployments', GITHUB)).json()
    return get(`/v2/deployments/${deployment.id}/events`)
  },
  'GET /devtools/api/threads/{thread_id}/log': async (at) => {
    await begun(at)
    return at.get(`/devtools/api/threads/${at.threadId}/log`)
  },
}

const origin = 'http://server.test'

describe('a heartbeat in mid-stream is no event of httpx-sse', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  })
  afterEach(() => void vi.useRealTimers())

  const serveHeld = () => {
    const held = gate()
    const agent = defineAgent({
      async run({ message }) {
        const answer = message()
        await answer.text('Hello')
        await held.opened
        await answer.text(' there')
      },
    })
    const controlPlane = createControlPlaneHandler({
      deployer: scriptedDeployer(),
      authenticate: () => ({ id: 'ann' }),
      worker: false,
    })
    const server = createAgentServer({
      agents: { agent },
      faces,
      controlPlane,
      devtools: true,
      authenticate: () => ({ id: 'ann' }),
    })
    onTestFinished(async () => {
      held.open()
      await server.close()
    })
    return { server, open: held.open }
  }

  test.each(Object.entries(STREAMS))('%s', async (route, open) => {
    const { server, open: goOn } = serveHeld()
    const response = await open({
      threadId: randomUUID(),
      post: (path, body, headers = {}) =>
        server.fetch(
          new Request(origin + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify(body),
          }),
        ),
      get: (path) => server.fetch(new Request(origin + path)),
    })
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)

    const reader = response.body!.getReader()
    onTestFinished(() => reader.cancel().catch(() => {}))
    const decoder = new TextDecoder()
    const read = createHttpxReader()
    const events: DispatchedEvent[] = []
    let text = ''
    const reading = (async () => {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        const part = decoder.decode(value, { stream: true })
        text += part
        events.push(...read(part))
      }
    })().catch(() => {})

    const beats = () => text.split(': heartbeat').length - 1
    // Streams that send nothing before the end of the answer have their heartbeats, too.
    for (const count of [1, 2, 3]) {
      await eventually(async () => {
        if (beats() < count) vi.advanceTimersByTime(5_000)
        return beats() >= count
      })
    }
    const before = text.length
    goOn()
    // A thread's stream has no end. Nothing happens to the deployment.
    const goesOn = () => text.length > before || route.includes('deployments')
    await Promise.race([reading, eventually(goesOn)])
    expect(events.filter(({ data }) => data === '')).toEqual([])
  })

  test('every streaming route of the document is in the list', async () => {
    const { server } = serveHeld()
    const document = await (await server.fetch(new Request(`${origin}/openapi.json`))).json()
    const streaming = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods)
        .filter(([, { responses }]) => JSON.stringify(responses ?? {}).includes('text/event-stream'))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    )
    expect(streaming.length).toBeGreaterThan(10)
    expect(Object.keys(STREAMS)).toEqual(expect.arrayContaining(streaming))
  })
})
