import assert from 'node:assert/strict'
import { closeServers } from '../kit/served.ts'

// #region server
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { mcp } from 'agentwire/mcp'
import { serve } from 'agentwire/node'

const assistant = defineAgent({
  description: 'Says what it was told.',
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})

export const server = createAgentServer({ agents: { assistant }, faces: [mcp()] })
await serve(server, { port: 3000 })
// #endregion

const ask = (at: typeof server, body: object) =>
  at.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    }),
  )
assert.match(await (await ask(server, { method: 'tools/list' })).text(), /"tools":/)
closeServers()
await server.close()
