import { type Connection, createConnection } from './connection.ts'
import { threadRequests } from './requests.ts'
import { createThreadStore, type ThreadStore } from './threads.ts'

export interface AgentClientOptions {
  /** Where the server is mounted, such as `https://example.com/agents`. */
  readonly apiUrl: string
  /** Makes each request, for instance with a token. Default: `fetch`. */
  readonly fetch?: typeof fetch
}

/** What the hooks of a page share. Make one for each server, beside the components. */
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
