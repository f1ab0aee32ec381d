import assert from 'node:assert/strict'
import { fakeOpenAI, says } from './kit/providers.ts'

fakeOpenAI([says('Hello again.')])

// #region read
import { openaiChat } from 'agentwire/formats'
import { createAccumulator } from 'agentwire/messages'
import OpenAI from 'openai'

const stream = await new OpenAI().chat.completions.create({
  model: 'gpt-5',
  messages: [{ role: 'user', content: 'Hi' }],
  stream: true,
})

const reader = openaiChat.readStream() // one for each stream
const accumulator = createAccumulator()
for await (const chunk of stream) for (const event of reader.push(chunk)) accumulator.push(event)
for (const event of reader.end()) accumulator.push(event)
console.log(accumulator.message()) // readResponse(response).messages has the same for a whole response
// #endregion

assert.deepEqual(accumulator.message().content, [{ type: 'text', text: 'Hello again.' }])
