import { setTimeout as pause } from 'node:timers/promises'
import { type AgentContext, type ContentBlock, defineAgent } from '../../../src/index.ts'

interface Input {
  readonly messages?: readonly { readonly id?: string }[]
}

type Behaviour = (context: AgentContext<Input>, pauseMs: number) => unknown

const say =
  (text: string): Behaviour =>
  ({ message }) =>
    message(text)

/** Without a task. */
const sayOnly = say('Direct message response')

const give =
  (content: string | ContentBlock): Behaviour =>
  ({ artifact }) =>
    artifact(content)

const giveData: Behaviour = async ({ artifact }) => {
  const { data, end } = artifact()
  await data({ key: 'value', count: 42 })
  await end()
}

const giveInChunks: Behaviour = async ({ artifact }) => {
  const { text, end } = artifact()
  for (const chunk of ['chunk-1 ', 'chunk-2']) await text(chunk)
  await end()
}

const ask =
  (payload: object): Behaviour =>
  async ({ interrupt, message }) => {
    await message(`You said ${await interrupt<string>(payload)}.`)
  }

const askAgainAndAgain: Behaviour = async ({ interrupt, message }) => {
  for (;;) {
    await message('I am listening.')
    await interrupt({ question: 'What else?' })
  }
}

const work =
  (pauses: number): Behaviour =>
  async ({ message, signal }, pauseMs) => {
    await pause(pauses * pauseMs, undefined, { signal })
    await message('Done after delay')
  }

const file = {
  type: 'file',
  mimeType: 'text/plain',
  extras: { filename: 'output.txt' },
} as const

/** What a message id stands for by its beginning. The first that fits counts. */
const BEHAVIOURS: readonly (readonly [prefix: string, behaviour: Behaviour])[] = [
  ['tck-artifact-text', give('Generated text content')],
  ['tck-artifact-file-url', give({ ...file, url: 'https://example.com/output.txt' })],
  ['tck-artifact-file', give({ ...file, base64: 'dGNr' })],
  ['tck-artifact-data', giveData],
  ['tck-stream-artifact-text', give('Streamed text content')],
  ['tck-stream-artifact-file', give({ ...file, base64: 'dGNr' })],
  ['tck-stream-artifact-chunked', giveInChunks],
  ['tck-stream-002', sayOnly],
  ['tck-stream-', give('Streamed content')],
  ['tck-message-response', sayOnly],
  ['tck-input-required', ask({ question: 'What shall I do?' })],
  ['tck-auth-required', ask({ type: 'auth-required', question: 'Sign in at https://example.com first.' })],
  ['tck-reject-task', ({ reject }) => reject('rejected')],
  ['tck-task-failure', () => Promise.reject(new Error('This task fails.'))],
  ['tck-delayed-complete', work(1)],
  ['tck-long-running', work(2)],
  ['test-resubscribe-message-id', work(2)],
  ['tck-', say('Hello from TCK')],
  ['', askAgainAndAgain],
]

function behaviourFor({ messages }: Input): Behaviour {
  const id = messages?.at(-1)?.id ?? ''
  return BEHAVIOURS.find(([prefix]) => id.startsWith(prefix))![1]
}

/**
 * An agent that does what the id of a message says. The public A2A compatibility kits (TCK) choose by it what they check: a plain
 * answer, an artifact, a question, a refusal, work that takes a while.
 */
export function tckAgent(pauseMs = 2_000) {
  return defineAgent<Input>({
    name: 'tck',
    description: 'Does what the id of a message says, for the A2A compatibility kits.',
    inputModes: ['text/plain', 'application/json'],
    answersWith: ({ input }) => (behaviourFor(input as Input) === sayOnly ? 'message' : 'task'),
    async run(context) {
      await behaviourFor(context.input)(context, pauseMs)
    },
  })
}
