import { runAlone } from './support/report.ts'
import type { Server } from './support/server.ts'
import { post, wordsOf } from './support/words.ts'

/** Measures an answer to a call of a tool with progress. */
export const mcpCalls = wordsOf('a word of an answer to a call of MCP, vs the streaming protocol', call)

async function call({ port }: Server): Promise<void> {
  const params = { name: 'words', arguments: { message: 'Speak' }, _meta: { progressToken: 1 } }
  const called = await post(port, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const text = await called.text()
  if (!text.includes('"content"')) throw new Error(text)
}

await runAlone(import.meta.url, mcpCalls)
