import { expect } from 'vitest'
import type { Authenticate } from '../../src/index.ts'
import { type Answer, request } from '../kit/client.ts'

/** `x-caller: tenant acme` is one of that tenant's users, `x-caller: id acme` somebody of that id without a tenant. */
export const callers: Authenticate = (incoming) => {
  const [, kind, name = ''] = /^(tenant|id) (.*)$/.exec(incoming.headers.get('x-caller') ?? '') ?? []
  return kind === undefined ? null : kind === 'tenant' ? { id: 'ann', tenant: name } : { id: name }
}

/** What a caller has made, by kind, with the ids that the server has issued for it. */
export interface Made {
  readonly threadId: string
  readonly assistantId: string
  readonly cronId: string
  readonly taskId: string
  readonly contextId: string
  readonly contextThreadId: string
  readonly ids: readonly string[]
  readonly all: readonly string[]
}

const KINDS = [
  'thread',
  'threads',
  'state',
  'runs',
  'assistant',
  'assistants',
  'cron',
  'crons',
  'item',
  'items',
  'namespaces',
  'task',
  'tasks',
  'context',
]
const ITEM = { namespace: ['notes', 'of'], key: 'k' }
const CONTEXT = 'a context of mine'
const KEY = { 'idempotency-key': 'my-key' }

export function reachOf(origin: string, caller: string) {
  const headers = { 'x-caller': caller }
  const ask = (method: string, path: string, body?: unknown, more = {}): Promise<Answer> =>
    request(origin, method, path, body, { ...headers, ...more })
  const rpc = async (method: string, params: unknown, assistant = 'agent') =>
    (await ask('POST', `/a2a/${assistant}`, { jsonrpc: '2.0', id: 1, method, params })).body
  const send = async (
    contextId: string,
    more: { assistant?: string; part?: object; taskId?: string } = {},
  ) => {
    const { assistant, part = { kind: 'text', text: 'hi' }, ...task } = more
    const message = {
      kind: 'message',
      role: 'user',
      messageId: crypto.randomUUID(),
      contextId,
      ...task,
      parts: [part],
    }
    const { result, error } = await rpc(
      'message/send',
      { message, configuration: { blocking: true } },
      assistant,
    )
    expect(error).toBe(undefined)
    return result
  }
  const ok = async (answer: Promise<Answer>) => {
    const { status, body } = await answer
    expect([status, body]).toEqual([200, body])
    return body
  }

  return {
    ask,
    send,
    tasks: (assistant: string) => tasksOf(ask, assistant),
    /** Makes one of everything, under names that others may choose as well. */
    async make(): Promise<Made> {
      const { thread_id: threadId } = await ok(ask('POST', '/threads', { metadata: { n: 1 } }, KEY))
      expect((await ok(ask('POST', '/threads', { metadata: { n: 1 } }, KEY))).thread_id).toBe(threadId)
      await ok(
        ask('POST', `/threads/${threadId}/runs/wait`, { assistant_id: 'agent', input: { messages: [] } }),
      )
      const { assistant_id: assistantId } = await ok(ask('POST', '/assistants', { graph_id: 'agent' }))
      const cron = { assistant_id: 'agent', schedule: '0 0 1 1 *', input: { messages: [] } }
      const { cron_id: cronId } = await ok(ask('POST', '/runs/crons', cron))
      expect((await ask('PUT', '/store/items', { ...ITEM, value: { of: caller } })).status).toBe(204)
      const { id: taskId, contextId } = await send(CONTEXT)
      const threads = await ok(ask('POST', '/threads/search', { limit: 100 }))
      const contextThreadId = threads.find(
        (thread: { thread_id: string }) => thread.thread_id !== threadId,
      )?.thread_id
      const ids = [threadId, assistantId, cronId, taskId, contextThreadId]
      return { threadId, assistantId, cronId, taskId, contextId, contextThreadId, ids, all: KINDS }
    },
    /** Which kinds of what was made the caller gets when it asks for them, by their ids and in lists. */
    async reached(made: Made): Promise<readonly string[]> {
      const { threadId, assistantId, cronId, taskId } = made
      const has = async (answer: Promise<Answer>, id?: string) => {
        const { status, body } = await answer
        return status === 200 && (id === undefined || JSON.stringify(body).includes(id))
      }
      const list = { limit: 100 }
      const found: Readonly<Record<string, Promise<boolean>>> = {
        thread: has(ask('GET', `/threads/${threadId}`)),
        threads: has(ask('POST', '/threads/search', list), threadId),
        state: has(ask('GET', `/threads/${threadId}/state`)),
        runs: has(ask('GET', `/threads/${threadId}/runs`)),
        assistant: has(ask('GET', `/assistants/${assistantId}`)),
        assistants: has(ask('POST', '/assistants/search', list), assistantId),
        cron: has(ask('PATCH', `/runs/crons/${cronId}`, { metadata: {} })),
        crons: has(ask('POST', '/runs/crons/search', list), cronId),
        item: has(ask('GET', `/store/items?namespace=${ITEM.namespace.join('.')}&key=${ITEM.key}`), 'value'),
        items: has(ask('POST', '/store/items/search', { namespace_prefix: ['notes'] }), ITEM.key),
        namespaces: has(ask('POST', '/store/namespaces', {}), 'notes'),
        task: rpc('tasks/get', { id: taskId }).then(({ result }) => result?.id === taskId),
        tasks: tasksOf(ask, 'agent').then((tasks) => tasks.includes(taskId)),
        context: has(ask('GET', `/threads/${made.contextThreadId}/state`)),
      }
      const kinds: string[] = []
      for (const kind of KINDS) if (await found[kind]) kinds.push(kind)
      return kinds
    },
  }
}

/** The ids of the caller's tasks, as v1.0 lists them. */
async function tasksOf(
  ask: (method: string, path: string, body: unknown, headers: object) => Promise<Answer>,
  assistant: string,
): Promise<readonly string[]> {
  const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }
  const { result } = (await ask('POST', `/a2a/${assistant}`, body, { 'a2a-version': '1.0' })).body
  return (result?.tasks ?? []).map(({ id }: { readonly id: string }) => id)
}
