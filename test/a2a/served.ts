import { onTestFinished } from 'vitest'
import {
  type Agent,
  createAgentServer,
  memoryCheckpointer,
  memoryStore,
  type OwnEngineOptions,
  type Principal,
  type Store,
  type WebHandler,
} from '../../src/index.ts'
import type { ServerFaces } from '../../src/server.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import type { Json } from '../kit/events.ts'
import { eventsOf } from './fake-operations.ts'

export type Version = '0.3' | '1.0'
export const VERSIONS: readonly Version[] = ['0.3', '1.0']

/** The callers that a token names: `Bearer ann` is Ann. */
export const byToken = (request: Request): Principal | null => {
  const [, id] = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '') ?? []
  return id === undefined ? null : { id }
}

type Agents = Readonly<Record<string, Agent>>

/** A server of agents in this process, with what it reports and everything that its store was told to write. */
export function serve(agents: Agents, options: Partial<ServerFaces & Omit<OwnEngineOptions, 'agents'>> = {}) {
  const { errors, reporters } = unexpectedErrors(options.observe)
  const inner = options.store ?? memoryStore()
  let written = 0
  const store: Store = {
    ...inner,
    async commit(partition, change) {
      const committed = await inner.commit(partition, change)
      written += change.ops.length
      return committed
    },
  }
  const server = createAgentServer({
    agents,
    checkpointer: memoryCheckpointer(),
    ...options,
    store,
    ...reporters,
  })
  onTestFinished(() => server.close())
  return { server, engine: server.engine, store, errors, written: () => written }
}

/** A message in words that both dialects understand, and how it is sent. */
export interface Words {
  readonly text?: string
  readonly parts?: readonly Json[]
  readonly role?: 'user' | 'agent'
  readonly messageId?: string
  readonly contextId?: string
  readonly taskId?: string
  readonly command?: Json
  readonly blocking?: boolean
  readonly historyLength?: number
  /** In the params. */
  readonly metadata?: Json
  /** In the envelope. */
  readonly outerMetadata?: Json
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** What the answer, or the last event, holds: one of both. */
  readonly result?: Json
  readonly error?: Json
  /** The results of all events, of a stream. */
  readonly items: readonly Json[]
}

let sent = 0

/** A client of an assistant, whose answers have the words of v0.3 in either dialect. */
export function clientOf(
  server: Pick<WebHandler, 'fetch'>,
  { assistant = 'chat', version = '1.0' as Version, token = '' } = {},
) {
  const isV1 = version === '1.0'
  async function post(body: unknown, init: RequestInit = {}): Promise<Answer> {
    const { status, headers, body: answer } = await open(body, init)
    const text = answer === null ? '' : await new Response(answer).text()
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false
    if (isStream) {
      const events = eventsOf(text).map(({ data }) => data)
      const { error } = events.at(-1) ?? {}
      const items = events.flatMap(({ result }) => (result === undefined ? [] : [plain(result)]))
      return { status, headers, text, items, result: items.at(-1), error }
    }
    const { result, error } = text === '' ? ({} as Json) : JSON.parse(text)
    return { status, headers, text, items: [], ...(error ? { error } : { result: plain(result) }) }
  }
  const open = (body: unknown, init: RequestInit = {}): Promise<Response> =>
    server.fetch(
      new Request(`http://127.0.0.1/a2a/${assistant}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(isV1 && { 'a2a-version': '1.0' }),
          ...(token && { authorization: `Bearer ${token}` }),
        },
        body:
          typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
        ...init,
      }),
    )
  const body = (method: string, params: Json, more: Json = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    method,
    params,
    ...more,
  })
  const sending = (method: string, words: Words) =>
    body(
      method,
      isV1 ? v1Params(words) : v03Params(words),
      words.outerMetadata && { metadata: words.outerMetadata },
    )
  const names = isV1 ? V1 : V03
  return {
    version,
    post,
    open,
    body,
    sending: (words: Words) => sending(names.send, words),
    streaming: (words: Words) => sending(names.stream, words),
    send: (words: Words, init?: RequestInit) => post(sending(names.send, words), init),
    stream: (words: Words, init?: RequestInit) => post(sending(names.stream, words), init),
    get: (id: string, more: Json = {}) => post(body(names.get, { id, ...more })),
    cancel: (id: string, more: Json = {}) => post(body(names.cancel, { id, ...more })),
    subscribe: (id: string, more: Json = {}) => post(body(names.subscribe, { id, ...more })),
    /** Only v1.0 has it. */
    list: (filters: Json = {}) => post(body('ListTasks', filters)),
  }
}

export type Client = ReturnType<typeof clientOf>

const V1 = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  cancel: 'CancelTask',
  subscribe: 'SubscribeToTask',
}
const V03 = {
  send: 'message/send',
  stream: 'message/stream',
  get: 'tasks/get',
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
}

const partsOf = ({ text, parts = text === undefined ? [] : [{ kind: 'text', text }] }: Words) => parts

const idsOf = ({ messageId = `m${++sent}`, contextId, taskId, command }: Words) => ({
  messageId,
  contextId,
  taskId,
  command,
})

const v03Params = (words: Words): Json => ({
  message: { kind: 'message', role: words.role ?? 'user', parts: partsOf(words), ...idsOf(words) },
  configuration: { blocking: words.blocking, historyLength: words.historyLength },
  metadata: words.metadata,
})

const v1Params = (words: Words): Json => ({
  message: {
    role: words.role === 'agent' ? 'ROLE_AGENT' : 'ROLE_USER',
    parts: partsOf(words).map(({ kind, file, ...part }) =>
      file
        ? { raw: file.bytes, url: file.uri, filename: file.name, mediaType: file.mimeType, ...part }
        : part,
    ),
    ...idsOf(words),
  },
  configuration: {
    returnImmediately: words.blocking === undefined ? undefined : !words.blocking,
    historyLength: words.historyLength,
  },
  metadata: words.metadata,
})

const ONE_OF: Json = {
  task: 'task',
  message: 'message',
  statusUpdate: 'status-update',
  artifactUpdate: 'artifact-update',
}

/** A result in the words of v0.3, without `final`, which v1.0 does not say. */
export function plain(value: Json, key = ''): Json {
  if (typeof value === 'string') {
    if (key === 'state') return value.replace('TASK_STATE_', '').toLowerCase().replace('_', '-')
    return key === 'role' ? value.replace('ROLE_', '').toLowerCase() : value
  }
  if (typeof value !== 'object' || value === null || key === 'data' || key === 'metadata') return value
  if (Array.isArray(value)) return value.map((item) => plain(item, key === 'parts' ? 'part' : ''))
  const [only, ...others] = Object.keys(value)
  if (key === '' && others.length === 0 && only !== undefined && only in ONE_OF)
    return { kind: ONE_OF[only], ...plain(value[only]) }
  if (key === 'part') return plainPart(value)
  const { final: _, ...fields } = value
  const read = Object.entries(fields).map(([name, field]) => [name, plain(field, name)])
  const known = Object.fromEntries(read)
  return 'status' in value && 'id' in value ? { kind: 'task', ...known } : known
}

function plainPart(part: Json): Json {
  if ('kind' in part) return part
  const { text, raw, url, data, filename, mediaType, metadata } = part
  const more = metadata === undefined ? {} : { metadata }
  if (text !== undefined) return { kind: 'text', text, ...more }
  if (data !== undefined) return { kind: 'data', data, ...more }
  const content = raw === undefined ? { uri: url } : { bytes: raw }
  return {
    kind: 'file',
    file: { ...content, ...(filename && { name: filename }), ...(mediaType && { mimeType: mediaType }) },
    ...more,
  }
}

export const stateOf = (task: Json): string => task?.status?.state
export const textOf = (parts: Json): string =>
  (parts ?? []).flatMap((part: Json) => (part.kind === 'text' ? [part.text] : [])).join('')
/** The text of the answer of a task. */
export const answerOf = (task: Json): string =>
  textOf(task?.artifacts?.find(({ name }: Json) => name === 'Assistant Response')?.parts)
export const turnsOf = (task: Json): string[] =>
  (task?.history ?? []).map(({ role, parts }: Json) => `${role}: ${textOf(parts)}`)

/** The artifacts of a stream, put together as its reader would. */
export function artifactsOf(items: readonly Json[]): Json[] {
  const made = new Map<string, Json>()
  for (const { kind, artifact, append } of items) {
    if (kind !== 'artifact-update') continue
    const before = append ? made.get(artifact.artifactId).parts : []
    made.set(artifact.artifactId, { ...artifact, parts: [...before, ...artifact.parts] })
  }
  return [...made.values()].map((artifact) => ({ ...artifact, parts: joined(artifact.parts) }))
}

/** Parts whose neighbouring texts are one. */
function joined(parts: readonly Json[]): Json[] {
  const whole: Json[] = []
  for (const part of parts) {
    const last = whole.at(-1)
    if (part.kind === 'text' && last?.kind === 'text')
      whole[whole.length - 1] = { ...last, text: last.text + part.text }
    else if (part.kind !== 'text' || part.text !== '') whole.push(part)
  }
  return whole
}

/** What the other face shows. */
export async function threads(
  server: Pick<WebHandler, 'fetch'>,
  path: string,
  body?: Json,
  { token = '', method = body === undefined ? 'GET' : 'POST' } = {},
): Promise<Json> {
  const request = new Request(`http://127.0.0.1/threads${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const response = await server.fetch(request)
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}
