/** Asks, watches the subagent, rejects the mail, and reads the answer: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { Client, type Message } from '@langchain/langgraph-sdk'

const client = new Client({ apiUrl: process.argv[2] ?? 'http://127.0.0.1:3000' })
const content = 'Let the researcher find out about tea, multiply 6 by 7, and mail both to ada@example.com.'

const thread = client.threads.stream({ assistantId: 'assistant' })
const subagents = thread.subagents[Symbol.asyncIterator]()
await thread.run.start({ input: { messages: [{ type: 'human', content }] } })
const { value: subagent } = await subagents.next()
console.log(`The subagent ${subagent?.name} works on: ${await subagent?.taskInput}`)
await thread.output // resolves when the agent waits for the decision
const [question] = thread.interrupts
await thread.close()
assert.equal(subagent?.name, 'researcher')
assert.ok(question, 'The agent must ask before it sends the mail.')
const { actionRequests } = question.payload as { actionRequests: { name: string; args: unknown }[] }
console.log('It asks to run:', actionRequests)
assert.deepEqual(
  actionRequests.map(({ name }) => name),
  ['send_mail'],
)

const answered = client.threads.stream(thread.threadId, { assistantId: 'assistant' })
const { interruptId: interrupt_id, namespace } = question
const decision = { type: 'reject', message: 'No mails today.' }
await answered.input.respond({ interrupt_id, namespace, response: { decisions: [decision] } })
await answered.output
await answered.close()
const { values } = await client.threads.getState<{ messages: Message[] }>(thread.threadId)
const said = values.messages.map((message) => `${message.type}: ${textOf(message)}`)
console.log(said.join('\n'))
assert.ok(said.includes('tool: 42'))
assert.ok(said.includes('tool: No mails today.'))
assert.match(said.at(-1)!, /^ai: .*42/)

function textOf({ content }: Message): string {
  return typeof content === 'string'
    ? content
    : content.map((block) => ('text' in block ? block.text : '')).join('')
}
