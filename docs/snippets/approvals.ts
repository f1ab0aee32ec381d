import assert from 'node:assert/strict'

// #region agent
import { createAgentServer, defineAgent } from 'agentwire'

const agent = defineAgent({
  async run({ interrupt, tool }) {
    const { approved, to } = await interrupt<{ approved: boolean; to: string }>({
      question: 'Send the mail?',
      to: 'ada@example.com',
    })
    if (approved) await tool('send_mail', { to }, () => `Sent to ${to}.`)
  },
})
// #endregion

const server = createAgentServer({ agents: { agent } })
const fetch: typeof globalThis.fetch = (url, init) => server.fetch(new Request(url, init))
const client = new Client({ apiUrl: 'http://in.process', callerOptions: { fetch } })

// #region client
import { Client } from '@langchain/langgraph-sdk'

const thread = client.threads.stream({ assistantId: 'agent', fetch })
await thread.run.start({ input: { messages: [{ type: 'human', content: 'Mail Ada.' }] } })
await thread.output // the run has stopped at the question
const [question] = thread.interrupts
await thread.input.respond({
  interrupt_id: question!.interruptId,
  namespace: question!.namespace,
  response: { approved: true, to: 'ada@example.org' },
})
// The answer is recorded, and the newest run goes on with it.
const [run] = await client.runs.list(thread.threadId, { limit: 1 })
const values = await client.runs.join(thread.threadId, run!.run_id) // with the agent's messages
await thread.close()
// #endregion

assert.deepEqual(question?.payload, { question: 'Send the mail?', to: 'ada@example.com' })
assert.match(JSON.stringify(values), /"content":"Sent to ada@example\.org\."/)
await server.close()
