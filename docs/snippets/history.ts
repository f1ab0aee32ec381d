import assert from 'node:assert/strict'
import { createAgentServer, defineAgent, textOf } from 'agentwire'

const agent = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})
const server = createAgentServer({ agents: { agent } })
const fetch: typeof globalThis.fetch = (url, init) => server.fetch(new Request(url, init))
const client = new Client({ apiUrl: 'http://in.process', callerOptions: { fetch } })

// #region start
import { Client } from '@langchain/langgraph-sdk'

const threadId = crypto.randomUUID()

async function say(content: string, forkFrom?: string): Promise<void> {
  const thread = client.threads.stream(threadId, { assistantId: 'agent', fetch })
  const input = { messages: [{ type: 'human', content }] }
  const run = await thread.run.start({ input, ...(forkFrom === undefined ? {} : { forkFrom }) })
  await server.engine.wait({ threadId, runId: run.run_id! }) // on the server; a page sees the end in the stream
  await thread.close()
}

await say('one')
await say('two')
// #endregion

// #region history
type Values = { messages: { type: string; content: string }[] }
const states = await client.threads.getHistory<Values>(threadId, { limit: 20 }) // newest first
const afterOne = states.find(({ values }) => values.messages?.length === 2)
// #endregion

// #region fork
await say('three', afterOne!.checkpoint.checkpoint_id!)
// #endregion

const { values } = await client.threads.getState<Values>(threadId)
assert.deepEqual(
  values.messages.map(({ content }) => content),
  ['one', 'You said: one', 'three', 'You said: three'],
)

// #region write
await client.threads.updateState(threadId, {
  values: { messages: [{ type: 'human', content: 'Noted.' }] },
})
// #endregion

assert.equal((await client.threads.getState<Values>(threadId)).values.messages.length, 5)
await server.close()
