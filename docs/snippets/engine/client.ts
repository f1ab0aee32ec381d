// #region client
import { Client } from '@langchain/langgraph-sdk'
import type { AgentServer } from 'agentwire'

export function clientOf(server: AgentServer): Client {
  const fetch: typeof globalThis.fetch = (url, init) => server.fetch(new Request(url, init))
  return new Client({ apiUrl: 'http://in.process', callerOptions: { fetch } })
}
// #endregion
