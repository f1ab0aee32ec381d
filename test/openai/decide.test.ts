import { expect, test } from 'vitest'
import { decideChat, decideResponse, NEW, type Situation } from '../../src/faces/openai/decide.ts'
import { idOf } from '../../src/faces/openai/ids.ts'
import { readChat, readItems } from '../../src/faces/openai/input.ts'
import type { ChatMessage, InputItem } from '../../src/faces/openai/wire.ts'

/** What a request starts is a function of the thread that it meets: each row is a situation, a request, and the decision or its error. */

const THREAD = '0192d4a5-0000-7000-8000-000000000001'
const thread = { lastRunId: 'r' }
const approval = {
  id: 'q',
  value: { actionRequests: [{ name: 'look', args: {} }] },
  runId: 'r',
  namespace: [],
}
const question = { id: 'p', value: 'Which one?', runId: 'r', namespace: [] }
const called = { type: 'ai', id: 'a', content: '', tool_calls: [{ id: 'c', name: 'look', args: {} }] }
const ofClient = new Set(['look'])

const user = (content: string) => ({ role: 'user', content }) as ChatMessage
const agent = (content: string) => ({ role: 'assistant', content }) as ChatMessage
const result = { role: 'tool', tool_call_id: 'c', content: 'seen' } as ChatMessage
const calls = {
  role: 'assistant',
  tool_calls: [{ id: 'c', function: { name: 'look', arguments: '{}' } }],
} as ChatMessage
const answer = (id: string, content: string) =>
  ({ role: 'tool', tool_call_id: idOf('call', THREAD, id), content }) as ChatMessage
const human = (content: string) => ({ type: 'human', content })

type Row<Request> = readonly [
  name: string,
  situation: Partial<Situation>,
  request: readonly Request[],
  decision: object | { readonly message: unknown },
  more?: { readonly isOfUi?: boolean; readonly instructions?: string },
]

const UI = { isOfUi: true }
const HISTORY = [user('one'), agent('1'), user('two')]
const ALL = [human('one'), { type: 'ai', content: '1' }, human('two')]

const CHATS: readonly Row<ChatMessage>[] = [
  [
    'a first message',
    {},
    [user('one')],
    { kind: 'start', messages: [human('one')], checkpointId: undefined },
  ],
  ['a history for a new thread', {}, HISTORY, { kind: 'start', messages: ALL }],
  [
    'a message after the newest known turn',
    { thread, knownTurn: 0 },
    HISTORY,
    { messages: [human('two')], checkpointId: undefined },
  ],
  [
    'one after an earlier turn',
    { thread, knownTurn: 0, fork: 'k' },
    HISTORY,
    { messages: [human('two')], checkpointId: 'k' },
  ],
  [
    'one after a turn that left no state',
    { thread, knownTurn: 0, fork: null },
    HISTORY,
    { message: expect.stringContaining('no state') },
  ],
  [
    'a history of a program that the thread does not know',
    { thread },
    HISTORY,
    { messages: [human('two')], checkpointId: undefined },
  ],
  ['the same of a UI', { thread }, HISTORY, { messages: ALL, checkpointId: null }, UI],
  [
    'the same before the first run',
    { thread: { lastRunId: null } },
    HISTORY,
    { messages: ALL, checkpointId: undefined },
    UI,
  ],
  [
    'a text that answers the question',
    { thread, knownTurn: 0, questions: [question] },
    HISTORY,
    { kind: 'answer', answers: { p: 'two' }, messages: [] },
    UI,
  ],
  [
    'a text that is no decision',
    { thread, knownTurn: 0, questions: [approval] },
    HISTORY,
    { kind: 'ask', question: expect.stringContaining('approve') },
    UI,
  ],
  [
    'a text that is one',
    { thread, knownTurn: 0, questions: [approval] },
    [user('one'), agent('May I?'), user('Yes.')],
    { kind: 'answer', answers: { q: { decisions: [{ type: 'approve' }] } } },
    UI,
  ],
  [
    'an edit before the question',
    { thread, knownTurn: 0, fork: 'k', questions: [question] },
    HISTORY,
    { kind: 'start', checkpointId: 'k' },
    UI,
  ],
  [
    'an output that answers the question',
    { thread, questions: [question] },
    [user('one'), answer('p', 'this')],
    { kind: 'answer', answers: { p: 'this' } },
  ],
  [
    'one of a question that is not open',
    { thread, questions: [] },
    [user('one'), answer('p', 'this')],
    { message: expect.stringContaining('not open any more') },
  ],
  [
    'one that is no decision',
    { thread, questions: [approval] },
    [answer('q', 'perhaps')],
    { message: expect.stringContaining('"approve"') },
  ],
  [
    "a result of the client's tool",
    { thread, messages: [called], ofClient },
    [user('one'), calls, result],
    { kind: 'start', messages: [{ type: 'tool', tool_call_id: 'c' }] },
  ],
  [
    "a result of the agent's tool",
    { thread, messages: [called] },
    [user('one'), calls, result],
    { message: expect.stringContaining('runs itself') },
  ],
  [
    'a result of a call that the state does not have',
    { thread },
    [user('one'), calls, result],
    { kind: 'start' },
  ],
]

const text = (content: string) => ({ role: 'user', content }) as InputItem
const INSTRUCTIONS = { type: 'system', id: 'instructions', content: 'Be brief.' }
const output = { type: 'function_call_output', call_id: 'c', output: 'seen' } as InputItem
const decision = (approve: boolean) =>
  ({
    type: 'mcp_approval_response',
    approval_request_id: idOf('mcpr', THREAD, 'q', '0'),
    approve,
  }) as InputItem
const instructions = 'Be brief.'

const RESPONSES: readonly Row<InputItem>[] = [
  ['an input', {}, [text('one')], { kind: 'start', messages: [human('one')], checkpointId: undefined }],
  ['no input', {}, [], { message: expect.stringContaining('at least one message') }],
  ['no input after another response', { thread }, [], { kind: 'start', messages: [] }],
  ['instructions', { thread }, [text('one')], { messages: [INSTRUCTIONS, human('one')] }, { instructions }],
  [
    'none after a response with instructions',
    { thread, messages: [INSTRUCTIONS] },
    [text('one')],
    { messages: [{ type: 'remove', id: 'instructions' }, human('one')] },
  ],
  ['a fork', { thread, fork: 'k' }, [text('one')], { messages: [human('one')], checkpointId: 'k' }],
  [
    'a response that left no state',
    { thread, fork: null },
    [text('one')],
    { message: expect.stringContaining('no state') },
  ],
  [
    'another assistant',
    { thread, fork: 'k', isOfOther: true, messages: [INSTRUCTIONS, human('zero')] },
    [text('one')],
    { kind: 'start', isMoved: true, checkpointId: undefined, messages: [human('zero'), human('one')] },
  ],
  [
    'an answer to the question of another assistant',
    { thread, isOfOther: true },
    [decision(true)],
    { message: expect.stringContaining('not open any more') },
  ],
  [
    'an approval',
    { thread, questions: [approval] },
    [decision(true)],
    { kind: 'answer', answers: { q: { decisions: [{ type: 'approve' }] } }, messages: [] },
  ],
  [
    'an approval and a message',
    { thread, questions: [approval] },
    [decision(false), text('one')],
    { kind: 'answer', messages: [human('one')] },
    { instructions },
  ],
  ["a result of the client's tool", { thread, messages: [called], ofClient }, [output], { kind: 'start' }],
  [
    "a result of the agent's tool",
    { thread, messages: [called] },
    [output],
    { message: expect.stringContaining('runs itself') },
  ],
]

const check = (decide: () => object, expected: object) => {
  if ('message' in expected) expect(decide).toThrow(expect.objectContaining(expected))
  else expect({ checkpointId: undefined, ...decide() }).toMatchObject(expected)
}

for (const [name, situation, messages, expected, { isOfUi = false } = {}] of CHATS)
  test(`a chat: ${name}`, () =>
    check(() => decideChat(readChat(messages), isOfUi, { ...NEW, ...situation }), expected))

for (const [name, situation, items, expected, { instructions } = {}] of RESPONSES)
  test(`a response: ${name}`, () =>
    check(() => decideResponse(readItems(items), instructions, { ...NEW, ...situation }), expected))

test.each<[string, (at: number) => Parameters<typeof readItems>[0]]>([
  ['messages', () => 'x'],
  ['calls', (at) => [{ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' }]],
  ['empty answers between messages', (at) => [{ role: at % 2 ? 'assistant' : 'user', content: '' }]],
])('60,000 %s are read in time that grows with their number', (_, make) => {
  const items = Array.from({ length: 60_000 }, (_, at) => make(at)).flat() as Parameters<typeof readItems>[0]
  const before = process.cpuUsage()
  readItems(items)
  const { user, system } = process.cpuUsage(before)
  // Less than a second. Where each item looks at those before it, a dozen seconds.
  expect((user + system) / 1_000).toBeLessThan(6_000)
})
