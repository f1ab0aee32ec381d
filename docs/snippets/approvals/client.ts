import assert from 'node:assert/strict'
import { forward } from '../kit/forward.ts'
import { closeServers } from '../kit/served.ts'

await import('./server.ts')
await forward('127.0.0.1:3000')

// #region client
import { Client } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: 'http://127.0.0.1:3000' })
const thread = client.threads.stream({ assistantId: 'agent' })
await thread.run.start({ input: { messages: [{ type: 'human', content: 'Mail Ada.' }] } })
await thread.output // the run has stopped at the question

const [question] = thread.interrupts
await thread.input.respond({
  interrupt_id: question!.interruptId,
  namespace: question!.namespace,
  response: { approved: true, to: 'ada@example.org' },
})

// The answer is recorded, and a new run continues with it.
const [run] = await client.runs.list(thread.threadId, { limit: 1 })
const values = await client.runs.join(thread.threadId, run!.run_id)
console.log(values)
await thread.close()
// #endregion

assert.deepEqual(question?.payload, { question: 'Send the mail?', to: 'ada@example.com' })
assert.match(JSON.stringify(values), /"content":"Sent to ada@example\.org\."/)
closeServers()
