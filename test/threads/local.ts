import { onTestFinished } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, memoryStore, type Store, type WebHandler } from '../../src/index.ts'
import { approval, chat } from '../fixtures/graphs.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import type { Json } from '../kit/events.ts'
import { turns } from '../kit/wait.ts'

export const MAX_BODY = 20_000
const CHANGES = new Set(['put', 'delete', 'append', 'clear'])

/** A server in this process that counts its writes. */
export function serve(maxBodyBytes = MAX_BODY) {
  const inner = memoryStore()
  let written = 0
  const { errors, reporters } = unexpectedErrors()
  const store: Store = {
    ...inner,
    async commit(partition, change) {
      const committed = await inner.commit(partition, change)
      // Jobs that earlier requests have put are worked on at times of their own.
      written += change.ops.filter(
        (op) => CHANGES.has(op.op) && !('collection' in op && op.collection === 'jobs'),
      ).length
      return committed
    },
  }
  const server = createAgentServer({
    agents: { chat: langgraph(chat()), ask: langgraph(approval()) },
    defaultAgent: 'ask',
    store,
    http: { maxBodyBytes },
    ...reporters,
  })
  onTestFinished(() => server.close())
  return { server, errors, written: () => written }
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined
}

export async function send(server: WebHandler, { method, path, headers, body }: Sent) {
  const withBody = method !== 'GET' && body !== undefined
  const incoming = new Request(`http://127.0.0.1${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(withBody && { body }),
  })
  const response = await server.fetch(incoming)
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body!.cancel()
    return { status: response.status, body: undefined }
  }
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** Settles when no run is in progress. */
export async function idle(server: WebHandler): Promise<void> {
  for (;;) {
    const { body } = await send(server, { method: 'GET', path: '/threads?limit=1000' })
    if (!body.some(({ status }: Json) => status === 'busy')) return
    await turns()
  }
}
