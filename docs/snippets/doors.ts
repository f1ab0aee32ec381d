import assert from 'node:assert/strict'
import { closeServers, origin } from './kit/served.ts'

// #region server
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { agUi } from 'agentwire/ag-ui'
import { aiSdk } from 'agentwire/ai-sdk'
import { mcp } from 'agentwire/mcp'
import { serve } from 'agentwire/node'
import { openAi } from 'agentwire/openai'

const assistant = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})

export const server = createAgentServer({
  agents: { assistant },
  faces: [aiSdk(), agUi(), mcp(), openAi()],
})
await serve(server, { port: 3000 })
// #endregion

const at = await origin()
for (const path of ['/v1/models', '/ag-ui/info', '/.well-known/agent-card.json'])
  assert.equal((await fetch(`${at}${path}`)).status, 200, path)
assert.equal((await fetch(`${at}/api/chat/nobody/stream`)).status, 204)
closeServers()
await server.close()
