import { expect, test } from 'vitest'
import { type Decision, decide, type Situation } from '../../src/faces/ag-ui/decide.ts'
import { messagesIn } from '../../src/faces/ag-ui/messages.ts'
import type { RunInput } from '../../src/faces/ag-ui/wire.ts'

/** What a request starts is a function of the thread that it meets: each row is a situation, a request, and the decision. */

const user = (id: string, content = 'hi') => ({ id, role: 'user', content })
const human = (id: string, content = 'hi') => ({ type: 'human', id, content })
const call = { type: 'ai', id: 'a', content: '', tool_calls: [{ id: 'c', name: 'look', args: {} }] }
const result = { id: 'r', role: 'tool', toolCallId: 'c', content: 'seen' }
const question = (id: string) => ({ id, value: `${id}?`, runId: 't' }) as never
const said = (...messages: object[]): Partial<Situation> => ({
  thread: { status: 'idle', interrupts: [] },
  values: { messages },
  history: messagesIn({ messages }) ?? [],
})
const resume = (interruptId: string) => [{ interruptId, status: 'resolved' as const, payload: 'yes' }]

type Row = readonly [
  name: string,
  situation: Partial<Situation>,
  input: Partial<RunInput>,
  kind: Decision['kind'],
  more?: object,
  page?: object,
]

const ADDS = { messages: { messages: [expect.objectContaining({ id: 'u2' })] } }
const ROWS: readonly Row[] = [
  ['a first message', {}, { messages: [user('u2')] }, 'start', ADDS],
  ['a message after others', said(human('u1')), { messages: [user('u1'), user('u2')] }, 'start', ADDS],
  [
    'no message, after the answer',
    said(human('u1')),
    { messages: [] },
    'start',
    { forkBefore: undefined, messages: expect.not.objectContaining({ messages: expect.anything() }) },
  ],
  [
    'an answer again',
    said(human('u1'), { type: 'ai', id: 'a', content: 'x' }),
    { messages: [user('u1')] },
    'start',
    { forkBefore: 'a', added: [] },
  ],
  [
    'an edit where pages edit',
    said(human('u1'), human('u3')),
    { messages: [user('u1'), user('u2')] },
    'start',
    { forkBefore: 'u3' },
    { options: { edits: 'fork' } },
  ],
  [
    'the same where they do not',
    said(human('u1'), human('u3')),
    { messages: [user('u1'), user('u2')] },
    'start',
    { forkBefore: undefined },
  ],
  [
    'a result of the page',
    { ...said(call), ofClient: new Set(['look']) },
    { messages: [result] },
    'start',
    { messages: { messages: [expect.objectContaining({ tool_call_id: 'c' })] } },
  ],
  ["a result that is not the page's", said(call), { messages: [result] }, 'nothing'],
  [
    'a question without an answer',
    { ...said(), questions: [question('q')] },
    { messages: [user('u2')] },
    'nothing',
  ],
  [
    'a question and its answer',
    { ...said(), questions: [question('q')] },
    { resume: resume('q') },
    'answer',
    { answers: { q: 'yes' } },
  ],
  [
    'one of two answers',
    { ...said(), questions: [question('q'), question('p')] },
    { resume: resume('q') },
    'nothing',
  ],
  ['an answer that came late', said(human('u1')), { resume: resume('q') }, 'nothing'],
  [
    'a breakpoint',
    { ...said(), thread: { status: 'interrupted', interrupts: [] } },
    { messages: [user('u2')] },
    'nothing',
  ],
  [
    'a breakpoint that goes on',
    { ...said(), thread: { status: 'interrupted', interrupts: [] } },
    { resume: resume('breakpoint') },
    'continue',
  ],
  [
    'a state that the page has changed',
    { ...said(), values: { topic: 'a', other: 1 } },
    { messages: [user('u2')], state: { topic: 'b', other: 1 } },
    'start',
    { update: { topic: 'b' } },
  ],
  [
    'a state that it may not change',
    { ...said(), values: { topic: 'a' } },
    { messages: [user('u2')], state: { topic: 'b' } },
    'start',
    { update: expect.not.objectContaining({ topic: 'b' }) },
    { options: { clientState: false } },
  ],
]

const NOTHING: Situation = { thread: undefined, values: {}, history: [], questions: [], ofClient: new Set() }

for (const [name, situation, input, kind, more = {}, page = {}] of ROWS)
  test(name, () => {
    const decision = decide(
      { ...NOTHING, ...situation },
      { threadId: 't', runId: 'r', ...input } as RunInput,
      { agent: { inputKeys: ['topic', 'messages'] }, options: {}, clientTools: [], ...page },
    )
    expect(decision).toMatchObject({ kind, ...more })
  })
