import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../../adapters/node.ts'
import {
  apply,
  type Conversation,
  emptyConversation,
  fromState,
} from '../../examples/demo/page/conversation.js'
import { readEvents } from '../../examples/demo/page/protocol.js'
import { serveDemo } from './server.ts'

let served: Served

beforeAll(async () => {
  served = await serveDemo(0)
})
afterAll(() => served.close())

test('events build the same conversation as the saved state, with the work of each subagent', async () => {
  const live = await converse('both', 'agent', 'What is 12 * (3 + 4), and what is a checkpoint?')
  expect(live.running).toBe(false)
  expect(shown(live)).toEqual(shown(await saved('both')))
  expect(
    [...live.calls.values()].filter(({ name }) => name === 'task').map((call) => work(live, call.scope)),
  ).toEqual([
    ['search: done', expect.stringContaining('A checkpoint is a copy')],
    ['calculator: done', '12 * (3 + 4) = 84.'],
  ])
})

test('an interrupt is shown as a question, live and after a reload, until it is answered', async () => {
  const live = await converse('letter', 'approval', 'Email ada@example.com about lunch')
  const { questions } = await saved('letter')
  expect(live.questions).toEqual(questions)
  expect(questions.map(({ payload }) => payload.actionRequests[0].name)).toEqual(['send_email'])

  const response = { decisions: [{ type: 'reject', message: 'No.' }] }
  await command('letter', 'input.respond', { namespace: [], interrupt_id: questions[0]!.id, response })
  const after = await follow('letter')
  expect(after.questions).toEqual([])
  expect([...after.calls.values()].map(({ name, status }) => `${name}: ${status}`)).toEqual([
    'send_email: error',
  ])
  expect(shown(after)).toEqual(shown(await saved('letter')))
})

test('a second question continues the same thread', async () => {
  await converse('twice', 'agent', '2 + 2')
  const live = await converse('twice', 'agent', 'Hi')
  expect(shown(live).map(({ text }) => text)).toEqual([
    '2 + 2',
    'Let me ask the math-whiz.',
    '2 + 2 = 4.',
    'Hi',
    expect.stringContaining('two helpers'),
  ])
})

test('a function streams, asks, and continues with the answer', async () => {
  const said = await converse('echo', 'echo', 'Hello out there')
  expect(shown(said).map(({ text }) => text)).toEqual(['Hello out there', 'Hello out there'])
  const { questions } = await converse('echo', 'echo', 'Ask me')
  expect(questions.map(({ payload }) => payload)).toEqual([{ question: 'What shall I say?' }])
  await command('echo', 'input.respond', { namespace: [], interrupt_id: questions[0]!.id, response: 'Boo!' })
  const after = await follow('echo')
  expect(shown(after).at(-1)).toMatchObject({ role: 'ai', text: 'Boo!' })
  expect(shown(after)).toEqual(shown(await saved('echo')))
})

test('a message that the state does not contain yet keeps its place', () => {
  const conversation = emptyConversation()
  const values = (...ids: string[]) =>
    event('values', [], {
      messages: ids.map((id) => ({ type: id.startsWith('q') ? 'human' : 'ai', id, content: id })),
    })
  apply(conversation, values('q1'))
  apply(conversation, event('messages', ['model:1'], { event: 'message-start', id: 'a1' }))
  const delta = { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'half' } }
  apply(conversation, event('messages', ['model:1'], delta))
  apply(conversation, event('lifecycle', [], { event: 'interrupted' }))
  apply(conversation, values('q1', 'q2'))
  apply(conversation, event('messages', ['model:2'], { event: 'message-start', id: 'a2' }))
  apply(conversation, values('q1', 'q2', 'a2'))
  expect(shown(conversation).map(({ text }) => text)).toEqual(['q1', 'half', 'q2', 'a2'])
  apply(conversation, values('q2', 'a2'))
  expect(shown(conversation).map(({ text }) => text)).toEqual(['half', 'q2', 'a2'])
})

test('a failed run is shown, and the next run clears it', () => {
  const conversation = emptyConversation()
  apply(conversation, event('lifecycle', [], { event: 'running' }))
  apply(conversation, event('lifecycle', ['tools:1'], { event: 'failed', error: 'inner' }))
  expect(conversation).toMatchObject({ running: true, error: undefined })
  apply(conversation, event('lifecycle', [], { event: 'failed', error: 'kaput' }))
  expect(conversation).toMatchObject({ running: false, error: 'kaput' })
  apply(conversation, event('lifecycle', [], { event: 'running' }))
  expect(conversation).toMatchObject({ running: true, error: undefined })
})

test.each(['\n', '\r\n'])('frames may be cut anywhere and end with %j', async (newline) => {
  const events = ['a', 'β 🙂'].map((text, seq) => event('custom', [], { text }, seq))
  const frames = events.map((one) =>
    ['id: 1', 'event: custom', `data: ${JSON.stringify(one)}`, '', ''].join(newline),
  )
  const bytes = new TextEncoder().encode([`: hello${newline}${newline}`, ...frames].join(''))
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  const read = []
  for await (const one of readEvents(body)) read.push(one)
  expect(read).toEqual(events)
})

function event(method: string, namespace: string[], data: unknown, seq = 0) {
  return { type: 'event' as const, event_id: `1-${seq}`, seq, method, params: { namespace, data } }
}

async function converse(threadId: string, agent: string, content: string): Promise<Conversation> {
  const input = { messages: [{ type: 'human', id: crypto.randomUUID(), content }] }
  await command(threadId, 'run.start', { assistant_id: agent, input })
  return follow(threadId)
}

async function command(threadId: string, method: string, params: object): Promise<void> {
  const answer = await post(threadId, 'commands', { id: 1, method, params })
  expect(await answer.json()).toMatchObject({ type: 'success' })
}

/** Reads a thread's events from the beginning to the end of its newest run. */
async function follow(threadId: string): Promise<Conversation> {
  const channels = ['values', 'messages', 'tools', 'lifecycle', 'input']
  const { body } = await post(threadId, 'stream', { channels })
  const conversation = emptyConversation()
  for await (const one of readEvents(body!)) {
    const before = conversation.running
    apply(conversation, one)
    if (before && !conversation.running) break
  }
  return conversation
}

async function saved(threadId: string): Promise<Conversation> {
  return fromState(await (await fetch(`${served.origin}/threads/${threadId}/state`)).json())
}

function post(threadId: string, route: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(`${served.origin}/threads/${threadId}/${route}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
}

function shown({ scopes, calls }: Conversation) {
  return scopes.get('')!.map(({ id, role, text, calls: ids }) => ({
    ...{ id, role, text },
    calls: ids.map((callId) => {
      const { name, args, status, result } = calls.get(callId)!
      return { name, args, status, result }
    }),
  }))
}

/** The tools and the text of a subagent. */
function work({ scopes, calls }: Conversation, scope: string | undefined): string[] {
  const steps = (scopes.get(scope ?? '?') ?? []).flatMap((message) => [
    message.text,
    ...message.calls.map((id) => `${calls.get(id)!.name}: ${calls.get(id)!.status}`),
  ])
  return steps.filter((step) => step !== '')
}
