import { describe, expect, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import type { A2AMessage } from '../../../src/faces/a2a/model.ts'
import { type Decision, decide, type Situation } from '../../../src/faces/a2a/operations/decide.ts'

/** What a message does is a function of what it meets: each row is a situation, a message, and the decision. */

const agent = { inputKeys: ['topic'] } as unknown as Agent
const receipt = { runId: 'r', appliedThroughSeq: 3 }
const record = (state: string) => ({ taskId: 't', state, runIds: ['t'] }) as never
const question = (id: string) => ({ id, value: `${id}?`, runId: 't' }) as never
const NOTHING: Situation = {
  agent,
  contextId: 'c',
  receipt: undefined,
  task: undefined,
  waiting: undefined,
  isLenient: false,
  answered: [],
}
const task = (state: string, ...open: string[]): Situation['task'] => ({
  record: record(state),
  open: open.map(question),
})
const text = (value: string): A2AMessage['parts'] => [{ kind: 'text', text: value }]
const resume = (value: unknown): A2AMessage['parts'] => [{ kind: 'data', data: { resume: value } }]
const human = { messages: [{ type: 'human', id: 'm', content: 'hi' }] }

type Row = readonly [
  name: string,
  situation: Partial<Situation>,
  message: Partial<A2AMessage>,
  what: Decision['kind'] | readonly [code: string, says: RegExp],
  more?: object,
]

const ROWS: readonly Row[] = [
  ['a first message', {}, {}, 'begin', { input: human }],
  [
    'data for the agent',
    {},
    { parts: [{ kind: 'data', data: { topic: 'a', other: 1 } }] },
    'begin',
    { input: { topic: 'a' } },
  ],
  ['a message that was sent before', { receipt }, {}, 'repeat', { receipt }],
  [
    'a repeated message for an ended task',
    { receipt, task: task('completed') },
    { taskId: 't' },
    'repeat',
    { receipt },
  ],
  ['a repeated message beside a question', { receipt, waiting: record('input-required') }, {}, 'repeat'],
  ['an answer to no task', {}, { parts: resume('yes') }, ['invalid_params', /An answer must name the task/]],
  [
    'a message beside a question',
    { waiting: record('input-required') },
    {},
    ['invalid_params', /"c:t".*must name the task/],
  ],
  ['a message for a working task', { task: task('working') }, { taskId: 't' }, 'add', { input: human }],
  ['a message for a waiting task', { task: task('submitted') }, { taskId: 't' }, 'add'],
  [
    'an answer to a working task',
    { task: task('working') },
    { taskId: 't', parts: resume('yes') },
    ['invalid_params', /not awaiting input/],
  ],
  [
    'text answers one question',
    { task: task('input-required', 'q') },
    { taskId: 't' },
    'answer',
    { answers: { q: 'hi' } },
  ],
  [
    'a value answers one question',
    { task: task('input-required', 'q') },
    { taskId: 't', parts: resume(1) },
    'answer',
    { answers: { q: 1 } },
  ],
  [
    'a question of a task that still works',
    { task: task('working', 'q') },
    { taskId: 't' },
    'answer',
    { answers: { q: 'hi' } },
  ],
  [
    'ids answer some of several questions',
    { task: task('input-required', 'q', 'p') },
    { taskId: 't', parts: resume({ p: 2 }) },
    'answer',
    { answers: { p: 2 }, answered: [question('p')] },
  ],
  [
    'text answers none of several questions',
    { task: task('input-required', 'q', 'p') },
    { taskId: 't' },
    ['invalid_params', /asked 2 questions/],
  ],
  [
    'a breakpoint is continued',
    { task: task('input-required') },
    { taskId: 't', parts: resume(null) },
    'answer',
    { answers: {}, answered: [] },
  ],
  [
    'an ended task',
    { task: task('completed') },
    { taskId: 't' },
    ['unsupported_operation', /has ended \(completed\)/],
  ],
  [
    'an ended task of a client that always names one',
    { task: task('failed'), isLenient: true },
    { taskId: 't', contextId: 'c' },
    'beginAnew',
  ],
  [
    'an answer that only an ended task could take',
    { task: task('failed'), isLenient: true },
    { taskId: 't', contextId: 'c', parts: resume(1) },
    ['unsupported_operation', /has ended/],
  ],
  [
    'a task of another context',
    { task: task('working') },
    { taskId: 't', contextId: 'd' },
    ['invalid_params', /belongs to another context/],
  ],
  [
    'a question that another answer was faster to',
    { task: task('working'), answered: ['q'] },
    { taskId: 't' },
    ['invalid_params', /"q" was just answered/],
  ],
  [
    'another question in its place',
    { task: task('input-required', 'p'), answered: ['q'] },
    { taskId: 't' },
    ['invalid_params', /"q" was just answered/],
  ],
  [
    'the question is still open after a change',
    { task: task('input-required', 'q'), answered: ['q'] },
    { taskId: 't' },
    'answer',
  ],
  [
    'the task has ended after a change',
    { task: task('completed'), answered: ['q'] },
    { taskId: 't' },
    ['unsupported_operation', /has ended/],
  ],
  [
    'text for an agent without messages',
    { agent: { takesMessages: false } as never },
    {},
    ['invalid_params', /only accepts data parts/],
  ],
  [
    'a type that the agent does not read',
    { agent: { inputModes: ['image/png'] } as never },
    {},
    ['content_type_not_supported', /text\/plain/],
  ],
]

describe('what a message does', () => {
  for (const [name, situation, message, what, more = {}] of ROWS)
    test(name, () => {
      const sent: A2AMessage = { messageId: 'm', role: 'user', parts: text('hi'), ...message }
      const act = () => decide({ ...NOTHING, ...situation }, sent)
      if (typeof what === 'string') expect(act()).toMatchObject({ kind: what, ...more })
      else {
        const [code, says] = what
        expect(act).toThrow(expect.objectContaining({ code, message: expect.stringMatching(says) }))
      }
    })
})
