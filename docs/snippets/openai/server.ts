import assert from 'node:assert/strict'
import { closeServers, origin } from '../kit/served.ts'

// #region serve
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { serve } from 'agentwire/node'
import { openAi } from 'agentwire/openai'

const assistant = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})

export const server = createAgentServer({ agents: { assistant }, faces: [openAi()] })
await serve(server, { port: 3000 })
// #endregion

const models = await (await fetch(`${await origin()}/v1/models`)).json()
assert.equal(models.data[0].id, 'assistant')
closeServers()
await server.close()
