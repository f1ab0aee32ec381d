import { expect, test } from 'vitest'
import { AgentInputError, AgentRejection } from '../../../src/agents/errors.ts'
import type { Part, StreamItem, TaskState } from '../../../src/faces/a2a/model.ts'
import type { Conversation, Question } from '../../../src/faces/a2a/remote/conversation.ts'
import { type A2ALink, exchange } from '../../../src/faces/a2a/remote/exchange.ts'
import { A2ARemoteError } from '../../../src/faces/a2a/remote/remote-error.ts'

const TEXT: Part = { kind: 'text', text: 'Hello' }
const WAITING: A2ALink = { contextId: 'c', taskId: 't', state: 'input-required', messageId: 'before' }
const REFUSED = new A2ARemoteError('refused', 'The task has ended.', { rpcCode: -32004 })

const status = (state: TaskState, text?: string, taskId = 't'): StreamItem => ({
  type: 'status',
  taskId,
  contextId: 'c',
  status: {
    state,
    timestamp: '',
    ...(text !== undefined && {
      message: { messageId: 'r', role: 'agent', parts: [{ kind: 'text', text }] },
    }),
  },
  final: false,
})

/** What the remote agent does with one question after the other: the items that it sends, and the error after them. */
type Script = readonly (StreamItem | Error)[]

interface Stage {
  readonly link?: A2ALink
  readonly parts?: readonly Part[]
  readonly isAnswer?: boolean
  readonly scripts: readonly Script[]
  /** The state in which the task is found. */
  readonly found?: TaskState
}

/** An exchange with a scripted remote agent: what it was asked, what was saved, and what came of it. */
async function play({ link = {}, parts = [TEXT], isAnswer = false, scripts, found = 'working' }: Stage) {
  const asked: Question[] = []
  const saved: A2ALink[] = []
  const texts: string[] = []
  const conversation: Conversation = {
    async *follow(question) {
      const script = scripts[asked.length] ?? []
      asked.push(question)
      for (const one of script) {
        if (one instanceof Error) throw one
        yield one
      }
    },
    task: async (id) => ({ id, contextId: 'c', status: { state: found, timestamp: '' } }),
  }
  const outcome = await exchange(conversation, {
    link,
    messageId: 'now',
    parts,
    isAnswer,
    signal: new AbortController().signal,
    save: (one) => saved.push(one),
    text: (text) => texts.push(text),
    reasoning: () => {},
    block: () => {},
  }).then(
    (done) => ({ ...done, thrown: undefined }),
    (thrown: unknown) => ({ link: undefined, error: undefined, thrown }),
  )
  return { asked, saved, texts: texts.join(''), ...outcome }
}

const message = (fields: object) => ({
  message: expect.objectContaining({ messageId: 'now', role: 'user', parts: [TEXT], ...fields }),
})
const DONE: Script = [status('completed', 'Hi')]

test.each<[string, Stage, readonly unknown[]]>([
  ['the first message names no task', { scripts: [DONE] }, [message({ contextId: undefined })]],
  [
    'a task that waits gets the message',
    { link: WAITING, scripts: [DONE] },
    [message({ taskId: 't', contextId: 'c' })],
  ],
  [
    'a task that has ended gets no message: a new one begins in its context',
    { link: { ...WAITING, state: 'completed' }, scripts: [DONE] },
    [{ message: expect.not.objectContaining({ taskId: 't' }) }],
  ],
  [
    'a task whose state is not known gets no message',
    { link: { contextId: 'c', taskId: 't' }, scripts: [DONE] },
    [{ message: expect.not.objectContaining({ taskId: 't' }) }],
  ],
  [
    'the task of a message that was sent before is followed, and the message is not sent again',
    { link: { ...WAITING, messageId: 'now' }, scripts: [DONE] },
    [{ taskId: 't' }],
  ],
  [
    'a message to a task that has ended in the meantime is sent again without the task',
    { link: WAITING, scripts: [[REFUSED], DONE] },
    [message({ taskId: 't' }), { message: expect.not.objectContaining({ taskId: 't' }) }],
  ],
  [
    'an answer is not sent if the remote agent has got the authorization by itself',
    { link: { ...WAITING, state: 'auth-required' }, isAnswer: true, found: 'working', scripts: [DONE] },
    [{ taskId: 't' }],
  ],
  [
    'an answer is sent if the remote agent still waits for the authorization',
    { link: { ...WAITING, state: 'auth-required' }, isAnswer: true, found: 'auth-required', scripts: [DONE] },
    [message({ taskId: 't' })],
  ],
  [
    'a question is answered without a look at the task',
    { link: WAITING, isAnswer: true, found: 'working', scripts: [DONE] },
    [message({ taskId: 't' })],
  ],
  [
    'another message to a task that waits for an authorization is sent',
    { link: { ...WAITING, state: 'auth-required' }, found: 'working', scripts: [DONE] },
    [message({ taskId: 't' })],
  ],
])('%s', async (_, stage, questions) => {
  const { asked, thrown, link, texts } = await play(stage)
  expect([thrown, asked]).toEqual([undefined, questions])
  expect(link).toMatchObject({ taskId: 't', state: 'completed', messageId: 'now', questions: undefined })
  expect(texts).toBe('Hi')
})

const LOST = new A2ARemoteError('unreachable', 'Lost.')
test.each<[string, Stage, unknown]>([
  ['an answer that is refused', { link: WAITING, isAnswer: true, scripts: [[REFUSED]] }, REFUSED],
  [
    'a refusal after the agent has begun',
    { link: WAITING, scripts: [[status('working'), REFUSED]] },
    REFUSED,
  ],
  ['another error of the remote agent', { link: WAITING, scripts: [[LOST]] }, LOST],
  [
    'an error of this process, whatever its code',
    { link: WAITING, scripts: [[Object.assign(new Error('Full.'), { code: 'refused' })]] },
    expect.objectContaining({ message: 'Full.' }),
  ],
  ['a refusal without a task', { scripts: [[REFUSED]] }, REFUSED],
  ['nothing to send', { parts: [], scripts: [] }, expect.any(AgentInputError)],
])('%s is told', async (_, stage, error) => {
  const { asked, thrown } = await play(stage)
  expect(thrown).toEqual(error)
  expect(asked.length).toBe(stage.scripts.length)
})

test('the link is saved when the remote agent first responds, and when it names another task', async () => {
  const { saved } = await play({
    link: WAITING,
    scripts: [
      [status('working'), status('working'), status('working', '', 'u'), status('completed', 'Hi', 'u')],
    ],
  })
  expect(saved.map(({ taskId, messageId }) => [taskId, messageId])).toEqual([
    ['t', 'now'],
    ['u', 'now'],
  ])
  expect(saved.map(({ questions }) => questions)).toEqual([undefined, undefined])
  const followed = await play({ link: { ...WAITING, messageId: 'now' }, scripts: [DONE] })
  expect(followed.saved).toEqual([])
})

test('a link keeps the questions of a task that waits, and forgets them when it has ended', async () => {
  const asks = await play({ scripts: [[status('input-required', 'Which?')]] })
  expect(asks.link).toMatchObject({ state: 'input-required', questions: [{ value: 'Which?' }] })
  const ended = await play({ link: asks.link!, isAnswer: true, scripts: [DONE] })
  expect(ended.link).toMatchObject({ state: 'completed', questions: undefined, said: undefined })
})

test.each<[TaskState, string | undefined, ...(readonly unknown[])]>([
  ['rejected', 'Not mine.', AgentRejection, 'Not mine.', undefined],
  ['rejected', undefined, AgentRejection, 'The remote agent declines the task.', undefined],
  ['canceled', 'Enough.', A2ARemoteError, 'Enough.', 'task_canceled'],
  ['canceled', undefined, A2ARemoteError, 'The task was canceled.', 'task_canceled'],
  ['failed', 'Out of tea.', A2ARemoteError, 'Out of tea.', 'task_failed'],
  ['failed', undefined, A2ARemoteError, 'The remote agent failed.', 'task_failed'],
])('a task that is %s with the words %s', async (state, text, ...told) => {
  const { link, error } = await play({ scripts: [[status(state, text)]] })
  const { code } = error as Error & { readonly code?: string }
  expect([error?.constructor, error?.message, error instanceof A2ARemoteError ? code : undefined]).toEqual(
    told,
  )
  expect(link?.state).toBe(state)
})
