/** Chats, reads an answer again, and answers a question: `npx tsx client.ts [origin]` */
import assert from 'node:assert/strict'
import OpenAI from 'openai'

const origin = process.argv[2] ?? 'http://127.0.0.1:3000'
const openai = new OpenAI({ baseURL: `${origin}/v1`, apiKey: 'any', maxRetries: 0 })

const text = await openai.chat.completions
  .create({ model: 'travel', messages: [{ role: 'user', content: 'Is there a train to Bergen?' }] })
  .then(({ choices }) => choices[0]?.message.content)
  .catch(String)
console.log(text)
assert.equal(text, 'There is a train at 9:30.')

// A background response continues after its client has disconnected. Read it again, complete or as events.
const begun = await openai.responses.create({ model: 'travel', input: 'Book it.', background: true })
const asked = await openai.responses.stream({ response_id: begun.id }).finalResponse()
const [call] = asked.output
assert.ok(call?.type === 'function_call')
console.log(call.name, call.arguments)

const answer = { type: 'function_call_output', call_id: call.call_id, output: 'yes' } as const
const booked = await openai.responses.create({
  model: 'travel',
  previous_response_id: asked.id,
  input: [answer],
})
console.log(booked.output_text)
assert.equal(booked.output_text, 'It is booked.')
