import { expect, test } from 'vitest'
import { toClient } from '../../src/faces/ag-ui/messages.ts'
import { type AgUiEvent, createStateWriter } from '../../src/faces/ag-ui/state.ts'
import { close, createWriter, write } from '../../src/faces/ag-ui/write.ts'
import type { AnswerDetail } from '../../src/faces/kit/index.ts'
import type { ContentBlock, Message } from '../../src/messages/index.ts'

const writerOf = (before: readonly Message[] = [], subagents = true) => {
  const writer = createWriter(before, createStateWriter(), subagents)
  return {
    write: (...items: AnswerDetail[]): AgUiEvent[] =>
      items.flatMap((item) => write(writer, { ...item, seq: 1, timestamp: 0, runId: 'r' })),
    close: (isAsking: boolean) => close(writer, isAsking),
  }
}

const message = { id: 'm', owner: null, node: undefined }
const call = { id: 'c', name: 'add', owner: null, messageId: 'm', isServer: false }
const types = (events: readonly AgUiEvent[]) => events.map(({ type }) => type)

test('thoughts are bracketed and counted by message, and have the ids of the snapshot', () => {
  const { write } = writerOf()
  const events = write(
    { type: 'reasoningStart', message, index: 0 },
    { type: 'reasoningDelta', message, index: 0, text: 'Hm.' },
    { type: 'reasoningEnd', message, index: 0, block: { type: 'reasoning', text: 'Hm.' } },
  )
  expect(types(events)).toEqual([
    'REASONING_START',
    'REASONING_MESSAGE_START',
    'REASONING_MESSAGE_CONTENT',
    'REASONING_MESSAGE_END',
    'REASONING_END',
  ])
  const [shown] = toClient([{ role: 'assistant', id: 'm', content: [{ type: 'reasoning', text: 'Hm.' }] }])
  expect(shown).toEqual({ id: events[0]!.messageId, role: 'reasoning', content: 'Hm.' })
})

test('arguments that are no JSON have a result that says so, in the stream and in the snapshot', () => {
  const { write } = writerOf()
  const events = write(
    { type: 'callStart', call },
    { type: 'callArgs', call, args: '{"a":' },
    { type: 'callInvalid', call, input: '{"a":', error: 'No JSON.' },
  )
  expect(types(events)).toEqual(['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'])
  const content = [
    { type: 'invalidToolCall', id: 'c', name: 'add', args: '{"a":', error: 'No JSON.' },
  ] as const
  expect(toClient([{ role: 'assistant', id: 'm', content }]).at(-1)).toMatchObject({
    id: events.at(-1)!.messageId,
    content: 'No JSON.',
  })
})

test('a text in progress begins again behind a snapshot that takes another message back', () => {
  const { write } = writerOf([{ role: 'user', id: 'u', content: [{ type: 'text', text: 'Hello' }] }])
  write({ type: 'textDelta', message, index: 0, text: 'So far' })
  const events = write({ type: 'retract', reason: 'lost', messages: ['lost'], calls: [] })
  expect(types(events)).toEqual([
    'TEXT_MESSAGE_END',
    'MESSAGES_SNAPSHOT',
    'TEXT_MESSAGE_START',
    'TEXT_MESSAGE_CONTENT',
  ])
  expect(events[1]!.messages).toMatchObject([{ id: 'u' }])
  expect(events[3]).toMatchObject({ messageId: 'm', delta: 'So far' })
})

test('a call that the client knows from before is not told again, its result is', () => {
  const content = [{ type: 'toolCall', id: 'c', name: 'add', args: {} }] as const
  const { write } = writerOf([{ role: 'assistant', id: 'm', content }])
  const events = write(
    { type: 'callStart', call },
    { type: 'callArgs', call, args: '{}' },
    { type: 'callEnd', call, input: {} },
    { type: 'callResult', call, status: 'success', message: undefined, text: '5' },
  )
  expect(types(events)).toEqual(['TOOL_CALL_RESULT'])
})

test('a result that has become another one replaces the first', () => {
  const { write } = writerOf()
  const result = (text: string): AnswerDetail => ({
    type: 'callResult',
    call,
    status: 'success',
    message: undefined,
    text,
  })
  expect(types(write(result('1')))).toEqual(['TOOL_CALL_RESULT'])
  const [snapshot] = write(result('2'))
  expect(snapshot).toMatchObject({ type: 'MESSAGES_SNAPSHOT', messages: [{ content: '2' }] })
})

test('parallel steps of one name have names of their own, and the end closes what is open', () => {
  const { write, close } = writerOf()
  const step = (task: string): AnswerDetail => ({
    type: 'node',
    name: 'work',
    namespace: [`work:${task}`],
    state: 'started',
  })
  const started = write(step('1'), step('2'), { type: 'textDelta', message, index: 0, text: 'Half' })
  expect(started.map(({ stepName }) => stepName).slice(0, 2)).toEqual(['work', 'work (2)'])
  expect(types(close(false))).toEqual(['TEXT_MESSAGE_END', 'STEP_FINISHED', 'STEP_FINISHED'])
})

test('a subagent that runs again has another id, and is left out where clients do not know subagents', () => {
  const inside = { ...message, owner: 'c' }
  const run: readonly AnswerDetail[] = [
    { type: 'subagentStart', call, name: 'researcher' },
    { type: 'textDelta', message: inside, index: 0, text: 'x' },
    { type: 'messageEnd', message: inside, whole: { role: 'assistant', content: [] }, isCut: false },
    { type: 'subagentEnd', call, status: 'success' },
  ]
  const { write, close } = writerOf()
  const ids = [...write(...run), ...write(run[0]!)].flatMap(({ type, subagentRunId }) =>
    type === 'SUBAGENT_STARTED' ? [subagentRunId] : [],
  )
  expect(new Set(ids).size).toBe(2)
  expect(close(true)).toMatchObject([{ type: 'SUBAGENT_FINISHED', outcome: { type: 'suspended' } }])
  expect(writerOf([], false).write(...run)).toEqual([])
})

test('long lists of the state are not compared item by item', () => {
  const teller = createStateWriter()
  const items = Array.from({ length: 5_000 }, (_, at) => ({ at }))
  teller.delta({ items })
  const [more] = teller.delta({ items: [...items, { at: -1 }] })
  expect(more?.delta).toEqual([{ op: 'add', path: '/items/-', value: { at: -1 } }])
  const [other] = teller.delta({ items: items.toReversed() })
  expect(other?.delta).toMatchObject([{ op: 'replace', path: '/items' }])
})

test('a message with 60,000 calls and their results is shown in time that grows with their number', () => {
  const ids = Array.from({ length: 60_000 }, (_, at) => `c${at}`)
  const content = ids.map((id): ContentBlock => ({ type: 'toolCall', id, name: 'f', args: {} }))
  const results = ids.map(
    (id): Message => ({ role: 'tool', toolCallId: id, content: [{ type: 'text', text: id }] }),
  )
  const before = process.cpuUsage()
  const [message, ...shown] = toClient([{ role: 'assistant', id: 'm', content }, ...results])
  const { user, system } = process.cpuUsage(before)
  expect(message!.toolCalls).toHaveLength(60_000)
  expect(shown.map(({ toolCallId }) => toolCallId)).toEqual(ids)
  expect((user + system) / 1_000).toBeLessThan(6_000)
})
