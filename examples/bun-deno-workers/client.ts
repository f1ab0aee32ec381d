/** Answers the graph's question, and stops the function while it counts: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { Client, type Message } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: process.argv[2] ?? 'http://127.0.0.1:3000' })

const asked = client.threads.stream({ assistantId: 'approval' })
await asked.run.start({ input: { messages: [{ type: 'human', content: 'Do it.' }] } })
await asked.output // resolves when the graph waits for the answer
const [question] = asked.interrupts
await asked.close()
assert.ok(question, 'The graph must ask.')
console.log('The graph asks:', question.payload)
assert.equal(question.payload, 'Shall I?')

const answered = client.threads.stream(asked.threadId, { assistantId: 'approval' })
const { interruptId: interrupt_id, namespace } = question
await answered.input.respond({ interrupt_id, namespace, response: 'yes' })
await answered.output
await answered.close()
console.log('It goes on:', await lastOf(asked.threadId))
assert.equal(await lastOf(asked.threadId), 'You said yes.')

const counted = client.threads.stream({ assistantId: 'counter' })
const messages = counted.messages[Symbol.asyncIterator]()
const { run_id } = await counted.run.start({ input: {} })
const { value: message } = await messages.next()
for await (const word of message?.text ?? []) {
  if (word !== '3 ') continue
  await client.runs.cancel(counted.threadId, String(run_id), true)
  break
}
await counted.close()
console.log('The function was stopped at:', await lastOf(counted.threadId))
assert.match(await lastOf(counted.threadId), /^1 2 3 (4 (5 )?)?$/)

async function lastOf(threadId: string): Promise<string> {
  const { values } = await client.threads.getState<{ messages: Message[] }>(threadId)
  return String(values.messages.at(-1)?.content)
}
