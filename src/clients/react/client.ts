import { type Connection, createConnection } from './connection.ts'
import { threadRequests } from './requests.ts'
import { createThreadStore, type ThreadStore } from './threads.ts'

export interface AgentClientOptions {
  /** The URL where the server is mounted, such as `https://example.com/agents`. */
  readonly apiUrl: string
  /** Sends each request, for example with a token. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** The state that all hooks of a page share. Create one for each server, outside of components. */
export interface AgentClient extends Connection {
  readonly apiUrl: string
  readonly threads: ThreadStore
}

export function createAgentClient({ apiUrl, fetch }: AgentClientOptions): AgentClient {
  const connection = createConnection(fetch)
  const threads = createThreadStore(
    threadRequests(apiUrl, connection.fetch),
    `agentwire threads of ${apiUrl}`,
  )
  return { apiUrl, threads, ...connection }
}
