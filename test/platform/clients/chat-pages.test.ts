import { expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { calculator, chat, supervised } from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'

const ORIGIN = 'http://localhost:5173'

/** What a browser does for a page of another origin: it asks before, and shows the page only what the answer allows. */
async function openPage(agents = { agent: langgraph(chat()) } as Json) {
  const host = await serveAgents({ agents, http: { cors: { origins: [ORIGIN] } } })
  async function ask(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
    const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...more }
    const preflight = await fetch(host.origin + path, {
      method: 'OPTIONS',
      headers: {
        origin: ORIGIN,
        'access-control-request-method': method,
        'access-control-request-headers': [...Object.keys(headers), 'x-api-key'].join(','),
      },
    })
    expect(preflight.ok).toBe(true)
    expect(preflight.headers.get('access-control-allow-origin')).toMatch(/^(\*|http:\/\/localhost:5173)$/)
    expect(preflight.headers.get('access-control-allow-methods')).toContain(method)
    for (const name of [...Object.keys(headers), 'x-api-key'])
      expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain(name)
    const response = await fetch(host.origin + path, {
      method,
      headers: { ...headers, origin: ORIGIN },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    expect(response.headers.get('access-control-allow-origin')).toMatch(/^(\*|http:\/\/localhost:5173)$/)
    const exposed = response.headers.get('access-control-expose-headers')?.toLowerCase() ?? ''
    const text = await response.text()
    const frames = text.split('\n\n').flatMap((frame): Json[] => {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(frame) ?? []
      return data === undefined ? [] : [{ event, data: JSON.parse(data) }]
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    return {
      status: response.status,
      frames,
      body: isStream || text === '' ? undefined : JSON.parse(text),
      header: (name: string) => (exposed.includes(name) ? response.headers.get(name) : null),
    }
  }
  return ask
}

const human = (id: string, content: string) => ({ type: 'human', id, content })

test('agent-chat-ui connects, sends, shows its list and opens a thread again', async () => {
  const ask = await openPage()
  expect((await ask('GET', '/info')).status).toBe(200)
  const mine = { metadata: { graph_id: 'agent' }, limit: 100 }
  expect((await ask('POST', '/threads/search', mine)).body).toEqual([])
  const { body: thread } = await ask('POST', '/threads', {})
  const path = `/threads/${thread.thread_id}`
  const sent = {
    assistant_id: 'agent',
    input: { messages: [human('h', 'Hi')], context: undefined },
    stream_mode: ['values'],
    stream_subgraphs: true,
    stream_resumable: true,
    on_disconnect: 'continue',
  }
  const run = await ask('POST', `${path}/runs/stream`, sent)
  expect(run.header('content-location')).toMatch(new RegExp(`^${path}/runs/[0-9a-f-]{36}$`))
  expect(run.frames.at(-1)).toMatchObject({
    event: 'values',
    data: { messages: [{ content: 'Hi' }, { content: 'Hello to you.' }] },
  })
  const { body: history } = await ask('POST', `${path}/history`, { limit: 10 })
  expect(history[0].values.messages).toHaveLength(2)
  const { body: list } = await ask('POST', '/threads/search', mine)
  expect(list).toMatchObject([{ thread_id: thread.thread_id, values: { messages: [{ content: 'Hi' }, {}] } }])
})

test('agent-chat-ui edits a message: its run begins at the checkpoint before it', async () => {
  const ask = await openPage()
  const { body: thread } = await ask('POST', '/threads', {})
  const path = `/threads/${thread.thread_id}`
  const say = (content: string, more: object = {}) =>
    ask('POST', `${path}/runs/stream`, {
      assistant_id: 'agent',
      input: { messages: [human(content, content)] },
      stream_mode: ['values'],
      ...more,
    })
  await say('first')
  const { body: before } = await ask('POST', `${path}/history`, { limit: 10 })
  await say('second')
  await say('changed', { checkpoint: before[0].checkpoint })
  const { body: history } = await ask('POST', `${path}/history`, { limit: 100 })
  expect(history[0].values.messages.map(({ content }: Json) => content)).toEqual([
    'first',
    'Hello to you.',
    'changed',
    'Hello to you.',
  ])
  const branches = history.filter(
    ({ parent_checkpoint }: Json) => parent_checkpoint?.checkpoint_id === before[0].checkpoint.checkpoint_id,
  )
  expect(branches).toHaveLength(2)
})

test('deep-agents-ui stops before the tools, goes on, and resolves a thread', async () => {
  const ask = await openPage({ agent: langgraph(calculator()) })
  const { body: thread } = await ask('POST', '/threads', {})
  const path = `/threads/${thread.thread_id}`
  const run = (more: object) =>
    ask('POST', `${path}/runs/stream`, {
      assistant_id: 'agent',
      stream_mode: ['values', 'updates', 'messages-tuple'],
      config: { recursion_limit: 100 },
      ...more,
    })
  const stopped = await run({ input: { messages: [human('h', 'add')] }, interrupt_before: ['tools'] })
  expect(stopped.frames.some(({ event }) => event === 'error')).toBe(false)
  const paging = { limit: 20, offset: 0, sort_by: 'updated_at', sort_order: 'desc' }
  const waiting = await ask('POST', '/threads/search', { ...paging, status: 'interrupted' })
  expect(waiting.body.map(({ thread_id }: Json) => thread_id)).toEqual([thread.thread_id])
  const next = await run({ interrupt_after: ['tools'] })
  expect(
    next.frames.filter(({ event }) => event === 'updates').map(({ data }) => Object.keys(data)[0]),
  ).toContain('tools')
  const end = await run({ command: { goto: '__end__' } })
  expect(end.frames.some(({ event }) => event === 'error')).toBe(false)
  expect((await ask('GET', `${path}/state`)).body.next).toEqual([])
  const resolved = await ask('POST', '/threads/search', { ...paging, status: 'idle' })
  expect(resolved.body).toHaveLength(1)
})

test('deep-agents-ui shows an approval and sends the decision; after a reload it joins the run', async () => {
  const ask = await openPage({ agent: langgraph(supervised()) })
  const { body: thread } = await ask('POST', '/threads', {})
  const path = `/threads/${thread.thread_id}`
  const body = { assistant_id: 'agent', stream_mode: ['values'] }
  const asked = await ask('POST', `${path}/runs/stream`, {
    ...body,
    input: { messages: [human('h', 'add')] },
  })
  expect(asked.frames.at(-1).data.__interrupt__).toMatchObject([
    { value: { actionRequests: [{ name: 'add' }] } },
  ])
  const decision = { command: { resume: { decisions: [{ type: 'approve' }] } } }
  const done = await ask('POST', `${path}/runs/stream`, { ...body, ...decision })
  const run = done.header('content-location')
  const joined = await ask('GET', `${run}/stream`, undefined, { 'last-event-id': '-1' })
  expect(joined.frames).toEqual(done.frames)
  expect(done.frames.at(-1).data.messages.at(-1)).toMatchObject({ type: 'ai', content: 'Done.' })
  const titles = await ask('POST', '/threads/search', { limit: 1, select: ['thread_id', 'values'] })
  expect(titles.body[0].values.messages[0].content).toBe('add')
})
