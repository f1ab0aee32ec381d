import fc from 'fast-check'
import type {
  A2AMessage,
  Artifact,
  Part,
  PushConfig,
  SendRequest,
  StreamItem,
  Task,
  TaskList,
  TaskPushConfig,
  TaskState,
} from '../../src/faces/a2a/model.ts'
import { anyCharacter } from '../kit/arbitraries.ts'

const STATES: readonly TaskState[] = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'canceled',
  'failed',
  'rejected',
]

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const words = fc.array(word, { minLength: 1, maxLength: 3 })
const metadata = fc.dictionary(
  word.filter((key) => key !== '__proto__'),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value))),
  { maxKeys: 3 },
)
type Fields<T> = { [K in keyof T]?: fc.Arbitrary<T[K]> }
const record = <T>(required: Fields<T>, optional: Fields<T> = {}): fc.Arbitrary<T> =>
  fc.record({ ...required, ...optional } as { [K in keyof T]: fc.Arbitrary<T[K]> }, {
    requiredKeys: Object.keys(required) as never[],
  }) as fc.Arbitrary<T>

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array).toString('base64'))

/** Parts that both dialects can say. */
export const part: fc.Arbitrary<Part> = fc.oneof(
  record<Part & { kind: 'text' }>(
    { kind: fc.constant('text' as const), text: fc.string({ unit: anyCharacter }) },
    { metadata },
  ),
  record<Part & { kind: 'data' }>({ kind: fc.constant('data' as const), data: metadata }, { metadata }),
  record<Part & { kind: 'bytes' }>(
    { kind: fc.constant('bytes' as const), bytes },
    { metadata, name: word, mediaType: word },
  ),
  record<Part & { kind: 'uri' }>(
    { kind: fc.constant('uri' as const), uri: word },
    { metadata, name: word, mediaType: word },
  ),
)

const parts = fc.array(part, { minLength: 1, maxLength: 4 })

export const message: fc.Arbitrary<A2AMessage> = record<A2AMessage>(
  { messageId: word, role: fc.constantFrom('user' as const, 'agent' as const), parts },
  { contextId: word, taskId: word, referenceTaskIds: words, extensions: words, metadata },
)

const status = record<Task['status']>(
  {
    state: fc.constantFrom(...STATES),
    timestamp: fc
      .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
      .map((at) => at.toISOString()),
  },
  { message },
)

const artifact = record<Artifact>(
  { artifactId: word, parts },
  { name: word, description: word, extensions: words, metadata },
)

export const task: fc.Arbitrary<Task> = record<Task>(
  { id: word, contextId: word, status },
  {
    history: fc.array(message, { minLength: 1, maxLength: 2 }),
    artifacts: fc.array(artifact, { minLength: 1, maxLength: 2 }),
    metadata,
  },
)

export const item: fc.Arbitrary<StreamItem> = fc.oneof(
  fc.record({ type: fc.constant('task' as const), task }),
  fc.record({ type: fc.constant('message' as const), message }),
  record<StreamItem & { type: 'status' }>(
    { type: fc.constant('status' as const), taskId: word, contextId: word, status, final: fc.boolean() },
    { metadata },
  ),
  record<StreamItem & { type: 'artifact' }>(
    {
      type: fc.constant('artifact' as const),
      taskId: word,
      contextId: word,
      artifact,
      append: fc.boolean(),
      lastChunk: fc.boolean(),
    },
    { metadata },
  ),
)

export const taskList: fc.Arbitrary<TaskList> = fc.record({
  tasks: fc.array(task, { maxLength: 2 }),
  nextPageToken: fc.string({ maxLength: 4 }),
  pageSize: fc.integer({ min: 1, max: 100 }),
  totalSize: fc.nat(),
})

const pushConfig: fc.Arbitrary<PushConfig & { readonly id: string }> = record<
  PushConfig & { readonly id: string }
>(
  { id: word, url: word },
  {
    token: word,
    authentication: record<NonNullable<PushConfig['authentication']>>(
      { schemes: word.map((scheme) => [scheme]) },
      { credentials: word },
    ),
  },
)

export const push: fc.Arbitrary<TaskPushConfig> = fc.record({ taskId: word, config: pushConfig })

export const sendRequest: fc.Arbitrary<SendRequest> = record<SendRequest>(
  { message, blocking: fc.boolean() },
  { acceptedOutputModes: words, historyLength: fc.nat(), push: pushConfig, metadata },
)
