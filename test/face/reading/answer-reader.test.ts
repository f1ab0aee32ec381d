import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import type { AgentEngine } from '../../../src/engine/index.ts'
import { ANSWER_EVENTS, type AnswerItem, createAnswerReader } from '../../../src/faces/kit/index.ts'
import { decodeMessage, type Message, textOf } from '../../../src/messages/index.ts'
import type { LogGap, ThreadEvent } from '../../../src/messages/thread-events/index.ts'
import {
  approval,
  calculator,
  chat,
  inOrder,
  researchers,
  supervised,
  threeSteps,
  toolAgent,
  twoApprovals,
} from '../../fixtures/graphs.ts'
import { engineOf } from '../../kit/engine.ts'
import { transcriptOf } from './transcript.ts'

type Event = ThreadEvent | LogGap

const threadId = 't'
const input = { messages: [{ type: 'human', content: 'Go on.' }] }

/** The events of an answer, with its questions answered, and of the ones before. */
async function eventsOf(engine: AgentEngine, answers?: (value: unknown) => unknown): Promise<Event[]> {
  const events: Event[] = []
  let answer = await engine.follow({ threadId, start: { assistantId: 'a', input }, filter: ANSWER_EVENTS })
  for (;;) {
    for await (const event of answer) events.push(event)
    const { end } = answer
    if (end?.status !== 'asks' || !answers) return events
    const given = Object.fromEntries(end.questions.map(({ id, value }) => [id, answers(value)]))
    answer = await engine.follow({ threadId, respond: { answers: given }, filter: ANSWER_EVENTS })
  }
}

function read(events: readonly Event[]): AnswerItem[] {
  const reader = createAnswerReader()
  return events.flatMap((event) => reader.push(event))
}

function serve(agent: Agent): AgentEngine {
  const engine = engineOf({ a: agent })
  onTestFinished(() => engine.close())
  return engine
}

async function stateOf(engine: AgentEngine): Promise<readonly Message[]> {
  const state = await engine.readState((await engine.findThread({ threadId }))!)
  return (state!.values.messages as readonly unknown[]).map((one) => decodeMessage(one)!)
}

const approve = (value: unknown) =>
  Object(value).actionRequests ? { decisions: [{ type: 'approve' }] } : 'yes'

const deep = defineAgent({
  async run({ subagent, message, tool }) {
    const sum = await tool('add', { a: 1, b: 2 }, ({ output }) => {
      output('adding')
      return 3
    })
    const found = await subagent('researcher', 'Find x', async ({ message: say, tool: use }) => {
      await say('Searching.')
      await say(`I found ${await use('search', { q: 'x' }, () => 'x is 42')}`)
    })
    await message(`${found} ${sum}`)
  },
})

const AGENTS: Readonly<Record<string, () => Agent>> = {
  'a model in a graph': () => langgraph(chat()),
  'a graph with tools': () => langgraph(calculator()),
  'a tool that fails': () =>
    langgraph(
      toolAgent(inOrder({ toolCalls: [{ id: 'call_b', name: 'broken', args: {} }] }, { text: 'Sorry.' })),
    ),
  'a graph that asks for approval': () => langgraph(supervised()),
  'a graph with a subagent': () => langgraph(researchers()),
  'a graph with a subagent that asks': () => langgraph(researchers({ asks: true })),
  'a function with a tool and a subagent': () => deep,
}

test.each(Object.entries(AGENTS))('what %s says is what its state holds', async (_, agent) => {
  const engine = serve(agent())
  const { messages, calls, ends } = transcriptOf(read(await eventsOf(engine, approve)))
  expect(ends.at(-1)).toBe('completed')
  const state = await stateOf(engine)
  const own = [...messages.values()].filter(({ ref }) => ref.owner === null)
  const assistants = state.filter(({ role }) => role === 'assistant')
  expect(own.map(({ ref }) => ref.id)).toEqual(assistants.map(({ id }) => id))
  expect(own.map(({ text }) => text)).toEqual(assistants.map(textOf))
  for (const { content } of assistants)
    for (const block of content)
      if (block.type === 'toolCall') {
        const call = calls.get(block.id!)!
        expect(JSON.parse(call.args)).toEqual(block.args)
        expect(call.input).toEqual(block.args)
        const result = state.find(({ toolCallId }) => toolCallId === block.id)!
        expect(call.result).toBe(textOf(result))
      }
})

test.each(Object.entries(AGENTS))(
  'a second answer of %s tells nothing of the first, and a reader from the middle only what is new',
  async (_, agent) => {
    const engine = serve(agent())
    await eventsOf(engine, approve)
    const before = await stateOf(engine)
    const events = await eventsOf(engine, approve)
    const after = await stateOf(engine)
    const fresh = after.slice(before.length).filter(({ role }) => role === 'assistant')
    const own = (some: readonly Event[]) =>
      [...transcriptOf(read(some)).messages.values()].filter(({ ref }) => ref.owner === null)
    expect(own(events).map(({ text }) => text)).toEqual(fresh.map(textOf))
    const isState = (event: Event) =>
      event.type === 'event' && event.method === 'values' && event.namespace.length === 0
    const states = events.flatMap((event, i) => (isState(event) ? [i] : []))
    fc.assert(
      fc.property(fc.constantFrom(...states), (from) => {
        // From a state on, each message and call comes once, and none that the state has.
        const seen = read(events.slice(from)).flatMap((item) =>
          item.type === 'messageStart' && item.message.owner === null ? [item.message.id] : [],
        )
        const known = JSON.stringify((events[from] as ThreadEvent<'values'>).data)
        for (const id of seen)
          if (!id.startsWith('message-')) expect(known).not.toContain(`"id":"${id}","content"`)
        expect(new Set(seen).size).toBe(seen.length)
      }),
    )
  },
)

test('a message that no model has streamed is told from the state', async () => {
  const { messages } = transcriptOf(
    read([
      values(1, [{ type: 'human', id: 'h', content: 'Go on.' }]),
      values(2, [
        { type: 'human', id: 'h', content: 'Go on.' },
        { type: 'ai', id: 'm', content: 'Whole.', tool_calls: [{ id: 'c', name: 'add', args: { a: 1 } }] },
      ]),
      values(3, [
        { type: 'human', id: 'h', content: 'Go on.' },
        { type: 'ai', id: 'm', content: 'Whole.', tool_calls: [{ id: 'c', name: 'add', args: { a: 1 } }] },
        { type: 'tool', id: 't', tool_call_id: 'c', content: '1' },
      ]),
    ]),
  )
  expect([...messages.values()]).toMatchObject([{ text: 'Whole.', calls: ['c'] }])
})

test('the calls of a message that a node returns are told from the state, once', async () => {
  const message = {
    role: 'ai',
    content: '',
    tool_calls: [{ id: 'call_1', name: 'now', args: { zone: 'UTC' } }],
  }
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', () => ({ messages: [message] }))
    .addNode('after', () => ({}))
    .addEdge('__start__', 'model')
    .addEdge('model', 'after')
    .compile()
  const items = read(await eventsOf(serve(langgraph(graph))))
  const ofCalls = items.filter(({ type }) => type.startsWith('call'))
  expect(ofCalls).toMatchObject([
    { type: 'callStart', call: { id: 'call_1', name: 'now', owner: null, messageId: expect.any(String) } },
    { type: 'callArgs', args: '{"zone":"UTC"}' },
    { type: 'callEnd', input: { zone: 'UTC' } },
  ])
})

test('an approval names the call that waits for it', async () => {
  const items = read(await eventsOf(serve(langgraph(supervised()))))
  const [question] = items.filter((item) => item.type === 'question')
  expect(question).toMatchObject({
    owner: null,
    approvals: [
      {
        index: 0,
        name: 'add',
        args: { a: 2, b: 3 },
        callId: 'call_add',
        allowedDecisions: ['approve', 'edit', 'reject'],
      },
    ],
  })
  expect(items.at(-1)).toMatchObject({ type: 'runEnd', status: 'interrupted' })
})

test('a question of a subagent knows its call; others have no approvals', async () => {
  const asked = read(await eventsOf(serve(langgraph(researchers({ asks: true })))))
  expect(asked.filter((item) => item.type === 'question')).toMatchObject([
    { owner: 'call_task', value: { question: 'search?' }, approvals: undefined },
  ])
  const two = read(await eventsOf(serve(langgraph(twoApprovals()))))
  expect(two.filter((item) => item.type === 'question')).toHaveLength(2)
  const one = read(await eventsOf(serve(langgraph(approval()))))
  expect(one.filter((item) => item.type === 'question')).toMatchObject([{ value: { question: 'go?' } }])
})

test('a subagent is told of once in a run, and again in the one that goes on with it', async () => {
  const items = read(await eventsOf(serve(langgraph(researchers({ asks: true }))), approve))
  const told = items.flatMap((item) =>
    item.type === 'subagentStart' || item.type === 'subagentEnd' || item.type === 'runStart' ? [item] : [],
  )
  expect(told.map(({ type }) => type)).toEqual([
    'runStart',
    'subagentStart',
    'runStart',
    'subagentStart',
    'subagentEnd',
  ])
  expect(told[1]).toMatchObject({ name: 'researcher', call: { id: 'call_task', name: 'task' } })
  const calls = items.flatMap((item) => (item.type === 'callStart' ? [item.call.id] : []))
  expect(calls).toEqual(['call_task', 'call_confirm'])
})

test('the nodes that say something and the state are told', async () => {
  const items = read(await eventsOf(serve(langgraph(calculator()))))
  const steps = items.flatMap((item) => (item.type === 'node' ? [`${item.name} ${item.state}`] : []))
  expect(steps).toEqual(
    ['model_request', 'tools', 'model_request'].flatMap((name) => [`${name} started`, `${name} completed`]),
  )
  const states = read(await eventsOf(serve(langgraph(threeSteps())))).filter(({ type }) => type === 'state')
  expect(states.at(-1)).toMatchObject({ values: { notes: ['one', 'two', 'three'] } })
})

const at = { type: 'event', namespace: [], timestamp: 0, runId: 'r' } as const

const values = (seq: number, messages: readonly object[], more: object = {}): ThreadEvent =>
  ({ ...at, method: 'values', eventId: `1-${seq}`, seq, data: { messages }, ...more }) as ThreadEvent

const message = (seq: number, data: ThreadEvent<'messages'>['data'], more: object = {}): ThreadEvent =>
  ({ ...at, method: 'messages', node: 'n', eventId: `1-${seq}`, seq, data, ...more }) as ThreadEvent

const HALF = [
  values(1, [{ type: 'human', id: 'h', content: 'Go on.' }]),
  message(2, { event: 'message-start', id: 'm', role: 'ai' }),
  message(3, { event: 'content-block-start', index: 0, content: { type: 'text', text: 'Half' } }),
]

const texts = (events: readonly Event[]) =>
  [...transcriptOf(read(events)).messages.values()].map(({ text }) => text)

test('what a lost attempt has written is taken back before it is written again', () => {
  const lost = message(
    4,
    { event: 'error', message: 'Lost.', code: 'superseded' },
    { superseded: true, eventId: '2-4' },
  )
  const again = [
    message(5, { event: 'message-start', id: 'm', role: 'ai' }, { eventId: '2-5' }),
    message(6, { event: 'content-block-start', index: 0, content: { type: 'text', text: 'Whole' } }),
    message(7, { event: 'content-block-finish', index: 0, content: { type: 'text', text: 'Whole' } }),
    message(8, { event: 'message-finish' }),
  ]
  expect(texts(HALF)).toEqual(['Half'])
  expect(texts([...HALF, lost])).toEqual([])
  expect(texts([...HALF, lost, ...again])).toEqual(['Whole'])
  // The same without the word of the lost attempt: a message that begins again takes the place of the one before.
  expect(
    read([...HALF, message(5, { event: 'message-finish' }), ...again]).filter(
      ({ type }) => type === 'retract',
    ),
  ).toEqual([expect.objectContaining({ messages: ['m'] })])
})

test('a whole message that the next state has not is taken back with its calls', () => {
  const call = { type: 'tool_call', id: 'c', name: 'add', args: {} }
  const written = [
    ...HALF,
    message(4, { event: 'content-block-start', index: 1, content: call }),
    message(5, { event: 'content-block-finish', index: 1, content: call }),
    message(6, { event: 'message-finish' }),
  ]
  const human = { type: 'human', id: 'h', content: 'Go on.' }
  const removed = values(7, [human, { type: 'remove', id: 'm', content: '' }], {
    superseded: true,
    eventId: '2-7',
  })
  const items = read([...written, removed])
  expect(items.at(-1)).toMatchObject({ type: 'retract', messages: ['m'], calls: ['c'] })
})

test('a result that was lost with its process is told again where it has become another one', () => {
  const call = { type: 'tool_call', id: 'c', name: 'add', args: {} }
  const tool = (seq: number, attempt: number, content: string): readonly ThreadEvent[] => [
    {
      ...at,
      method: 'tools',
      eventId: `${attempt}-${seq}`,
      seq,
      namespace: ['tools:t'],
      data: { event: 'tool-started', tool_call_id: 'c', tool_name: 'add', input: '{}' },
    },
    {
      ...at,
      method: 'tools',
      eventId: `${attempt}-${seq + 1}`,
      seq: seq + 1,
      namespace: ['tools:t'],
      data: {
        event: 'tool-finished',
        tool_call_id: 'c',
        output: { type: 'tool', tool_call_id: 'c', content },
      },
    },
  ]
  const written = [
    ...HALF,
    message(4, { event: 'content-block-start', index: 1, content: call }),
    message(5, { event: 'content-block-finish', index: 1, content: call }),
    message(6, { event: 'message-finish' }),
    ...tool(7, 1, '1'),
  ]
  const results = (events: readonly Event[]) =>
    read(events).flatMap((item) => (item.type === 'callResult' ? [item.text] : []))
  expect(results([...written, ...tool(9, 2, '1')])).toEqual(['1'])
  expect(results([...written, ...tool(9, 2, '2')])).toEqual(['1', '2'])
})

test('after a gap the newest state is told, and what follows goes on from it', () => {
  const state = [
    { type: 'human', id: 'h', content: 'Go on.' },
    { type: 'ai', id: 'm', content: 'Half of it' },
  ]
  const items = read([...HALF, { type: 'gap', after: 3, firstRetained: 9 }, values(8, state)])
  expect(items.slice(-4)).toMatchObject([
    { type: 'textEnd' },
    { type: 'messageEnd', isCut: true },
    { type: 'gap', values: { messages: state } },
    { type: 'kept', messages: ['m'] },
  ])
  expect(read([values(8, state), values(9, state)])).toEqual([])
})

test('arguments that end in the middle are an invalid call, and the end of a run ends what is open', () => {
  const items = read([
    ...HALF,
    message(4, {
      event: 'content-block-start',
      index: 1,
      content: { type: 'tool_call_chunk', id: 'c', name: 'add', args: '{"a":' },
    }),
    { ...at, method: 'lifecycle', eventId: '1-5', seq: 5, data: { event: 'failed', error: 'No.' } },
  ])
  expect(items.slice(-5)).toMatchObject([
    { type: 'textEnd' },
    { type: 'callInvalid', input: '{"a":' },
    { type: 'messageEnd', isCut: true },
    // The state has no such message.
    { type: 'retract', reason: 'unused', messages: ['m'], calls: ['c'] },
    { type: 'runEnd', status: 'failed', error: 'No.' },
  ])
})

test('arguments that are written anew are told whole at the end', () => {
  const written = (args: string) =>
    ({ type: 'block-delta', fields: { type: 'tool_call_chunk', args } }) as const
  const items = read([
    ...HALF,
    message(4, {
      event: 'content-block-start',
      index: 1,
      content: { type: 'tool_call_chunk', id: 'c', name: 'add', args: '{"a"' },
    }),
    message(5, { event: 'content-block-delta', index: 1, delta: written('{"a":1') }),
    message(6, { event: 'content-block-delta', index: 1, delta: written('{"b":1') }),
    message(7, {
      event: 'content-block-finish',
      index: 1,
      content: { type: 'tool_call', id: 'c', name: 'add', args: { b: 1 } },
    }),
  ])
  expect(items.flatMap((item) => (item.type === 'callArgs' ? [item.args] : []))).toEqual(['{"a"', ':1'])
  expect(items.at(-1)).toMatchObject({ type: 'callEnd', input: { b: 1 } })
})

test('the text of a block that is left and taken up again is told once', () => {
  const text = (so: string) => ({ type: 'text', text: so })
  const items = read([
    message(1, { event: 'message-start', id: 'm', role: 'ai' }),
    message(2, { event: 'content-block-start', index: 0, content: text('') }),
    message(3, { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'one ' } }),
    message(4, { event: 'content-block-finish', index: 0, content: text('one ') }),
    message(5, { event: 'content-block-start', index: 1, content: text('') }),
    message(6, { event: 'content-block-finish', index: 1, content: text('two ') }),
    message(7, { event: 'content-block-start', index: 0, content: text('one ') }),
    message(8, { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'more ' } }),
    message(9, { event: 'content-block-finish', index: 0, content: text('one more ') }),
    message(10, { event: 'content-block-start', index: 2, content: text('end') }),
    message(11, { event: 'message-finish', reason: 'stop' }),
  ])
  expect(items.flatMap((item) => (item.type === 'textDelta' ? [[item.index, item.text]] : []))).toEqual([
    [0, 'one '],
    [1, 'two '],
    [2, 'more '],
    [3, 'end'],
  ])
  const blocks = items.flatMap((item) => (item.type === 'textEnd' ? [item.block.text] : []))
  expect(blocks).toEqual(['one ', 'two ', 'more ', 'end'])
  const { whole } = items.find((item) => item.type === 'messageEnd')!
  expect(whole.content).toMatchObject([text('one more '), text('two '), text('end')])
})

test('a block that the normal form has no type for comes once, whole', () => {
  const items = read([
    ...HALF,
    message(4, { event: 'content-block-start', index: 1, content: { type: 'chart', data: 'a' } }),
    message(5, {
      event: 'content-block-delta',
      index: 1,
      delta: { type: 'block-delta', fields: { data: 'ab' } },
    }),
    message(6, { event: 'content-block-finish', index: 1, content: { type: 'chart', data: 'ab' } }),
  ])
  expect(items.filter(({ type }) => type === 'other')).toMatchObject([
    { value: { type: 'chart', data: 'ab' } },
  ])
})

test('a call with the id of an earlier turn is another one, with a result of its own', () => {
  const human = (id: string) => ({ type: 'human', id, content: 'Add.' })
  const asks = (id: string) => ({
    type: 'ai',
    id,
    content: '',
    tool_calls: [{ type: 'tool_call', id: 'call_0', name: 'add', args: { id } }],
  })
  const gives = (id: string, content: string) => ({ type: 'tool', id, tool_call_id: 'call_0', content })
  const before = [human('h1'), asks('a1'), gives('t1', '5'), human('h2')]
  const items = read([
    values(1, before),
    values(2, [...before, asks('a2')]),
    values(3, [...before, asks('a2'), gives('t2', '5')]),
  ])
  const calls = items.filter(({ type }) => type.startsWith('call') && type !== 'callArgs')
  expect(calls).toMatchObject([
    { type: 'callStart', call: { id: 'call_0~2', modelCallId: 'call_0', messageId: 'a2' } },
    { type: 'callEnd', input: { id: 'a2' } },
    { type: 'callResult', text: '5', seq: 3 },
  ])
})
