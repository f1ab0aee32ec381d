import { expect, test } from 'vitest'
import { type Decision, decide, type Situation } from '../../src/faces/ai-sdk/decide.ts'
import type { Intent } from '../../src/faces/ai-sdk/intent.ts'
import type { SentMessage } from '../../src/faces/ai-sdk/wire.ts'

/** What a request starts is a function of the thread that it meets: each row is a situation, an intent, and the decision or its error. */

const sent = (id: string, role: 'user' | 'assistant', ...parts: object[]) =>
  ({ id, role, parts: role === 'user' ? [{ type: 'text', text: 'hi' }] : parts }) as SentMessage
const user = sent('u2', 'user')
const human = (id: string) => ({ type: 'human', id, content: 'hi' })
const spoken = { type: 'ai', id: 'a', content: 'x' }
const call = (name: string) => ({
  type: 'ai',
  id: 'a',
  content: '',
  tool_calls: [{ id: 'c', name, args: {} }],
})
const output = { type: 'tool-ask', toolCallId: 'c', state: 'output-available', output: 'seen' }
const approval = (approved?: boolean) => ({ type: 'x', approval: { id: 'q:0', approved } })

const APPROVALS = { actionRequests: [{ name: 'look', args: {} }] }
const question = { id: 'q', value: APPROVALS, runId: 'r' }
const other = { id: 'p', value: 'Which one?', runId: 'r' }
const shows = (messages: object[], questions: object[] = [], answer: object | null = null) =>
  ({ snapshot: { state: { values: { messages } }, questions, answer } }) as unknown as Partial<Situation>
const ANSWER = { taskId: 't', state: 'input-required', openRunIds: ['r'], runIds: ['r'] }
const RECEIPT = { runId: 'r', appliedThroughSeq: 4 }

const send = (before?: unknown): Intent => ({ kind: 'send', message: user, before })
const edit: Intent = { kind: 'edit', message: user }
const regenerate: Intent = { kind: 'regenerate', userId: 'u1' }
const goesOn = (...parts: object[]): Intent => ({
  kind: 'continue',
  message: sent('m', 'assistant', ...parts),
})

const ADDS = { kind: 'start', turn: { userId: 'u2', replies: [] }, messages: [{ type: 'human', id: 'u2' }] }

type Row = readonly [
  name: string,
  situation: Partial<Situation>,
  intent: Intent,
  decision: object | { readonly status: number },
  resume?: Readonly<Record<string, unknown>>,
]

const ROWS: readonly Row[] = [
  ['a message', {}, send(), { ...ADDS, isOnce: true, checkpointId: undefined }],
  ['a message while a question is open', { isAsking: true }, send(), { status: 409 }],
  [
    'a message again, whose answer is active',
    { earlier: RECEIPT },
    send(),
    { kind: 'read', answerId: 'r', runId: 'r', after: 4, turn: { userId: 'u2' } },
  ],
  [
    'a message again, whose answer is over',
    { earlier: 'over', beforeMessage: 'k' },
    send(),
    { ...ADDS, checkpointId: 'k', isOnce: undefined },
  ],
  [
    'another text under its id',
    { earlier: 'of another content', beforeMessage: 'k' },
    send(),
    { ...ADDS, checkpointId: 'k' },
  ],
  ['one that no state has', { earlier: 'over' }, send(), { ...ADDS, checkpointId: undefined }],
  [
    'a message with the approval before it',
    { ...shows([human('u1'), call('look')], [question], ANSWER), isAsking: true },
    send(sent('m', 'assistant', approval(true))),
    { kind: 'answer', answerId: 't', answers: { q: { decisions: [{ type: 'approve' }] } } },
  ],
  [
    'a message with one of two answers before it',
    { ...shows([human('u1'), call('look')], [question, other], ANSWER), isAsking: true },
    send(sent('m', 'assistant', approval(true))),
    { status: 409 },
  ],
  ['a message before it that cannot be read', shows([], [question]), send({ id: 'm' }), { status: 400 }],

  ['an edit', { beforeMessage: 'k' }, edit, { ...ADDS, checkpointId: 'k' }],
  ['an edit of the first message', { beforeMessage: null }, edit, { ...ADDS, checkpointId: null }],
  ['an edit while a question is open', { beforeMessage: 'k', isAsking: true }, edit, ADDS],
  ['an edit of an unknown message', {}, edit, { ...ADDS, checkpointId: undefined }],
  ['the same while a question is open', { isAsking: true }, edit, { status: 409 }],

  [
    'another answer',
    { ...shows([human('u1'), spoken]), beforeAnswer: 'k' },
    regenerate,
    { kind: 'start', turn: { userId: 'u1', replies: [] }, messages: null, checkpointId: 'k' },
  ],
  [
    'another answer, without a state that has a next step',
    { ...shows([human('u1'), spoken]), beforeMessage: 'k' },
    regenerate,
    { kind: 'start', messages: [human('u1')], checkpointId: 'k' },
  ],
  ['another answer, without any state', shows([human('u1'), spoken]), regenerate, { status: 400 }],
  [
    'another answer to an unknown message',
    { ...shows([human('u9')]), beforeAnswer: 'k' },
    regenerate,
    { status: 400 },
  ],

  [
    'an approval',
    shows([human('u1'), call('look')], [question], ANSWER),
    goesOn(approval(true)),
    {
      kind: 'answer',
      answerId: 't',
      turn: { userId: 'u1' },
      answers: { q: { decisions: [{ type: 'approve' }] } },
    },
  ],
  [
    'a rejection',
    shows([human('u1'), call('look')], [question], ANSWER),
    goesOn(approval(false)),
    { kind: 'answer', answers: { q: { decisions: [{ type: 'reject' }] } } },
  ],
  [
    'no decision',
    shows([human('u1'), call('look')], [question], ANSWER),
    goesOn(approval()),
    { status: 409 },
  ],
  [
    'an answer by its id',
    shows([human('u1')], [other], ANSWER),
    goesOn(),
    { kind: 'answer', answers: { p: 'this' } },
    { p: 'this' },
  ],
  [
    'one of two answers, the other stays open',
    shows([human('u1')], [other, { ...other, id: 'o' }], ANSWER),
    goesOn(),
    { kind: 'answer', answers: { p: 'this' } },
    { p: 'this' },
  ],
  [
    'an answer that another page has given',
    shows([human('u1')], [], { ...ANSWER, state: 'working' }),
    goesOn(),
    { kind: 'read', answerId: 't', runId: 'r', turn: { userId: 'u1' } },
  ],
  [
    "a result of the page's tool",
    shows([human('u1'), call('ask')]),
    goesOn(output),
    { kind: 'start', messages: [{ type: 'tool', tool_call_id: 'c' }], turn: { userId: 'u1' } },
  ],
  ["a result of the agent's tool", shows([human('u1'), call('look')]), goesOn(output), { status: 409 }],
  ['nothing to continue', shows([human('u1'), spoken]), goesOn(), { status: 409 }],
]

for (const [name, situation, intent, expected, resume] of ROWS)
  test(name, () => {
    const decided = (): Decision =>
      decide({ isAsking: false, ...situation }, intent, {
        shape: { isDynamic: true, ofClient: new Set(['ask']) },
        resume,
      })
    if ('status' in expected) expect(decided).toThrow(expect.objectContaining(expected))
    else expect({ checkpointId: undefined, isOnce: undefined, ...decided() }).toMatchObject(expected)
  })
