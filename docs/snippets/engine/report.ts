import assert from 'node:assert/strict'

// #region start
import { createAgentEngine, defineAgent } from 'agentwire'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

export const engine = createAgentEngine({ agents: { agent } })

const principal = { id: 'cron' }
const input = { messages: [{ type: 'human', content: 'Write the report.' }] }
const { runId } = await engine.start({ threadId: 'report-2026-11', principal, input })
const { status } = await engine.wait({ threadId: 'report-2026-11', principal, runId })
console.log(status) // success
// #endregion

assert.equal(status, 'success')

import { createAgentServer, type FoldedMessage } from 'agentwire'
import { clientOf } from './client.ts'
import { messagesOfRun } from './fold.ts'
import { textOfRun } from './text.ts'

const run = { threadId: 'report-2026-11', principal, runId }
assert.equal(await textOfRun(engine, run), 'Hello there')
let messages: readonly FoldedMessage[] = []
for await (const now of messagesOfRun(engine, run)) messages = now
assert.deepEqual(
  messages.map(({ message }) => message.role),
  ['user', 'assistant'],
)
const server = createAgentServer({ engine, authenticate: () => principal })
assert.equal((await clientOf(server).threads.search()).length, 1)
await server.close()
await engine.close()
