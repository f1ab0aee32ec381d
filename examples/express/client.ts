/** Chats with the agent of `server.ts`, and calls the app's own route: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { Client } from '@langchain/langgraph-sdk'

const origin = process.argv[2] ?? 'http://127.0.0.1:3000'
const client = new Client({ apiUrl: `${origin}/agents` })

const thread = client.threads.stream({ assistantId: 'greeter' })
const messages = thread.messages[Symbol.asyncIterator]() // subscribed before the run starts
await thread.run.start({ input: { messages: [{ type: 'human', content: 'Good morning' }] } })
const { value: message } = await messages.next()
const pieces: string[] = []
for await (const piece of message?.text ?? []) pieces.push(piece)
await thread.close()
console.log('The agent:', pieces)
assert.equal(pieces.join(''), 'Hello from Express. You said: Good morning')
assert.ok(pieces.length > 1, 'The answer comes in pieces.')

assert.match(await (await fetch(origin)).text(), /Orders/)
const ordered = await fetch(`${origin}/orders`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ item: 'tea' }),
})
assert.equal(ordered.status, 201)
assert.deepEqual(await ordered.json(), { ordered: 'tea' })
console.log('The route beside it answers as before.')
