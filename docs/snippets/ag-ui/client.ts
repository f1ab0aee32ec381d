import assert from 'node:assert/strict'
import { createAgentServer, defineAgent } from 'agentwire'
import { agUi } from 'agentwire/ag-ui'
import { intercept } from '../kit/intercept.ts'

const hello = defineAgent({ run: ({ message }) => message('Hello there') })
const server = createAgentServer({ agents: { agent: hello }, faces: [agUi()] })
intercept('127.0.0.1:3000', server.fetch)

// #region client
import { HttpAgent } from '@ag-ui/client'

export const agent = new HttpAgent({
  url: 'http://127.0.0.1:3000/ag-ui/agent',
  threadId: crypto.randomUUID(),
})
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Hello' })
await agent.runAgent()
console.log(agent.messages)
// #endregion

assert.equal(agent.messages.at(-1)?.content, 'Hello there')
await server.close()
