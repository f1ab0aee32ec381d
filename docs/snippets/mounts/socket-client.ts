import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

await import('./sockets.ts')
const apiUrl = await origin()

// #region socket-client
import { Client } from '@langchain/langgraph-sdk'
import { WebSocket } from 'ws'

export async function greetOverSocket(apiUrl: string) {
  const thread = new Client({ apiUrl }).threads.stream({
    assistantId: 'agent',
    transport: 'websocket',
    webSocketFactory: (url) => new WebSocket(url) as never, // not needed on Node 22 or newer, or in browsers
  })
  await thread.run.start({ input: { messages: [{ type: 'human', content: 'Hello' }] } })
  const state = await thread.output
  await thread.close()
  return state
}
// #endregion

const { messages } = (await greetOverSocket(apiUrl)) as { messages: unknown[] }
assert.equal(messages.length, 2)
closeServers()
