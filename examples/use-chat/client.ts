/** Sends a message like `useChat`, reads the answer, and loads the chat: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

const api = `${process.argv[2] ?? 'http://127.0.0.1:3000'}/api/chat`
const id = randomUUID()
const user = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'Hello there' }] }

const response = await fetch(api, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ id, trigger: 'submit-message', messages: [user] }),
})
const frames = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => data!)
assert.equal(frames.pop(), '[DONE]')

const chunks = frames.map((frame) => JSON.parse(frame))
const text = chunks.map(({ delta = '' }) => delta).join('')
console.log(text)
assert.equal(text, 'You said: Hello there')

const [, answer] = await (await fetch(`${api}/${id}`)).json()
assert.equal(answer.id, chunks[0].messageId)
assert.equal(answer.parts.at(-1).text, text)
