import assert from 'node:assert/strict'
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { intercept } from '../kit/intercept.ts'

const agent = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})
const server = createAgentServer({ agents: { agent } })
intercept('127.0.0.1:3000', server.fetch)

// #region history
import { Client } from '@langchain/langgraph-sdk'

interface Values {
  messages: { type: string; content: string }[]
}

const client = new Client({ apiUrl: 'http://127.0.0.1:3000' })
const threadId = crypto.randomUUID()

async function say(content: string, forkFrom?: string): Promise<void> {
  const thread = client.threads.stream(threadId, { assistantId: 'agent' })
  const input = { messages: [{ type: 'human', content }] }
  const { run_id } = await thread.run.start({ input, ...(forkFrom === undefined ? {} : { forkFrom }) })
  await client.runs.join(threadId, run_id!) // wait for the end
  await thread.close()
}

await say('one')
await say('two')

// Read
const states = await client.threads.getHistory<Values>(threadId, { limit: 20 }) // newest first
const afterOne = states.find(({ values }) => values.messages?.length === 2)

// Fork: "two" is not part of this branch
await say('three', afterOne!.checkpoint.checkpoint_id!)

// Write
await client.threads.updateState(threadId, {
  values: { messages: [{ type: 'human', content: 'Noted.' }] },
})
// #endregion

const { values } = await client.threads.getState<Values>(threadId)
assert.deepEqual(
  values.messages.map(({ content }) => content),
  ['one', 'You said: one', 'three', 'You said: three', 'Noted.'],
)
await server.close()
