import { onTestFinished } from 'vitest'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { createHandler, type HandlerOptions, type WebHandler } from '../../src/core/http/index.ts'
import { encodeA2AError } from '../../src/faces/a2a/errors.ts'
import type { StreamEntry, Task } from '../../src/faces/a2a/model.ts'
import type { A2ACall, Operations } from '../../src/faces/a2a/operations/operations.ts'
import type { A2AContext } from '../../src/faces/a2a/options.ts'
import { postRpc } from '../../src/faces/a2a/rpc/post.ts'
import { guardRoutes } from '../../src/faces/kit/create-face.ts'
import { route } from '../../src/faces/kit/routes.ts'
import { engineOf } from '../kit/engine.ts'

export const URL_OF_AGENT = 'http://127.0.0.1/a2a/helper'

export const TASK: Task = {
  id: 't1',
  contextId: 'c1',
  status: { state: 'working', timestamp: '2026-01-02T03:04:05.006Z' },
}

export const entry = (id: string, text: string, final = false): StreamEntry => ({
  id,
  item: {
    type: 'status',
    taskId: 't1',
    contextId: 'c1',
    status: {
      state: final ? 'completed' : 'working',
      message: { messageId: `m${id}`, role: 'agent', parts: [{ kind: 'text', text }] },
      timestamp: '2026-01-02T03:04:05.006Z',
    },
    final,
  },
})

export interface Asked {
  readonly operation: keyof Operations
  readonly call: A2ACall
  readonly request: unknown
}

/** Operations whose streams may give one entry at a time. */
type Given = Omit<Operations, 'stream' | 'subscribe'> & {
  readonly [Name in 'stream' | 'subscribe']: (
    ...asked: Parameters<Operations[Name]>
  ) => AsyncIterable<StreamEntry | readonly StreamEntry[]>
}

async function* batches(given: AsyncIterable<StreamEntry | readonly StreamEntry[]>) {
  for await (const some of given) yield [some].flat()
}

/** The endpoint over operations that remember what they were asked and answer with what a test gives, or with a task. */
export function serve(own: Partial<Given> = {}, options: Partial<HandlerOptions> = {}) {
  const asked: Asked[] = []
  const reported: unknown[] = []
  const refused: unknown[] = []
  const push = {
    taskId: 't1',
    config: { id: 'p1', url: 'https://example.com/hook', token: 'k' },
  }
  const whole: Given = {
    send: async () => ({ task: TASK }),
    async *stream() {
      yield { id: '1', item: { type: 'task', task: TASK } }
      yield entry('2', 'hi')
      yield entry('3', 'done', true)
    },
    getTask: async () => TASK,
    listTasks: async () => ({ tasks: [TASK], nextPageToken: '', pageSize: 50, totalSize: 1 }),
    cancelTask: async () => ({ ...TASK, status: { ...TASK.status, state: 'canceled' } }),
    async *subscribe() {
      yield { id: '1', item: { type: 'task', task: TASK } }
      yield entry('2', 'done', true)
    },
    setPush: async (_, { taskId, config }) => ({ taskId, config: { ...config, id: config.id ?? 'p1' } }),
    getPush: async () => push,
    listPush: async () => [push],
    deletePush: async () => {},
    extendedCard: async () => ({ name: 'Helper' }),
    ...own,
  }
  const operations = Object.fromEntries(
    Object.entries(whole).map(([operation, run]) => [
      operation,
      (call: A2ACall, request: unknown) => {
        asked.push({ operation: operation as keyof Operations, call, request })
        const result = (run as (call: A2ACall, request: unknown) => unknown)(call, request)
        return operation === 'stream' || operation === 'subscribe'
          ? batches(result as AsyncIterable<StreamEntry>)
          : result
      },
    ]),
  ) as unknown as Operations
  const agents = { agent: defineAgent({ run: () => undefined }) }
  const engine = engineOf(agents, { observe: (event) => refused.push(event) })
  const onError = (error: unknown) => reported.push(error)
  const context = { engine, authorize: undefined, onError, card: {} } as unknown as A2AContext
  const server = createHandler({
    routes: guardRoutes(context, [
      route('POST', '/a2a/:assistant_id', { permission: null, run: postRpc(operations) }),
    ]),
    encodeError: encodeA2AError,
    onError,
    ...options,
  })
  onTestFinished(() => server.close())
  return { server, asked, reported, refused, post: (body: unknown, init?: Init) => post(server, body, init) }
}

export interface Init {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly signal?: AbortSignal
  /** Default helper. */
  readonly assistant?: string
}

/** Sends a body as it is, if it is text or bytes, and else its JSON. */
export function ask(
  server: WebHandler,
  body: unknown,
  { headers, query = '', signal, assistant = 'helper' }: Init = {},
): Promise<Response> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  const sent = new Request(`http://127.0.0.1/a2a/${assistant}${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: isRaw ? (body as BodyInit) : JSON.stringify(body),
    ...(signal && { signal }),
  })
  return server.fetch(sent)
}

/** The whole answer. */
export async function post(server: WebHandler, body: unknown, init?: Init) {
  const response = await ask(server, body, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type') === 'application/json'
  return { response, status: response.status, text, body: isJson ? JSON.parse(text) : undefined }
}

/** The `data:` of every event, and its `id:`. */
export const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((frame) => frame.includes('data:'))
    .map((frame) => {
      const field = (name: string) =>
        frame
          .split('\n')
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
      return { id: field('id')[0], data: JSON.parse(field('data').join('\n')) }
    })

export const request = (method: string, params: unknown = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

export const V1_MESSAGE = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
export const V03_MESSAGE = {
  kind: 'message',
  messageId: 'm1',
  role: 'user',
  parts: [{ kind: 'text', text: 'hello' }],
}
