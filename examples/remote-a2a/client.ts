/**
 * Chats with our agent through LangGraph's SDK, and calls it through the A2A SDK:
 * `npx tsx client.ts [origin]`
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Role } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { Client } from '@langchain/langgraph-sdk'

const origin = process.argv[2] ?? 'http://127.0.0.1:3000'
const expected = 'The forecast says: Sunny in Oslo. Go out.'

const thread = new Client({ apiUrl: origin }).threads.stream({ assistantId: 'assistant' })
const [messages, subagents] = [
  thread.messages[Symbol.asyncIterator](),
  thread.subagents[Symbol.asyncIterator](),
]
await thread.run.start({ input: { messages: [{ type: 'human', content: 'How is the weather in Oslo?' }] } })
const texts: string[] = []
for (let next = await messages.next(); !next.done; next = await messages.next())
  texts.push(await next.value.text)
const { value: subagent } = await subagents.next()
await thread.close()
console.log(`${subagent?.name} was asked: ${await subagent?.taskInput}`)
console.log('Our agent says to the page:', texts.at(-1))
assert.equal(texts.at(-1), expected)
assert.equal(subagent?.name, 'weather')

const agent = await new ClientFactory().createFromUrl(`${origin}/a2a/assistant/`)
const text = { $case: 'text', value: 'And how is it in Oslo tomorrow?' } as const
const answer = await agent.sendMessage({
  tenant: '',
  configuration: undefined,
  metadata: undefined,
  message: {
    messageId: randomUUID(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: text, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
})
assert.ok('artifacts' in answer, 'The answer is a task.')
const said = answer.artifacts[0]?.parts[0]?.content
console.log('Our agent says over A2A:', said?.value)
assert.deepEqual(said, { $case: 'text', value: expected })
