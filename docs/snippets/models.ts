import assert from 'node:assert/strict'
import { openaiChat } from 'agentwire/formats'
import { recordedOpenAI, says } from './kit/providers.ts'

const { openai: client } = recordedOpenAI([says('Hello again.')])
const request = { model: 'gpt-5', messages: [{ role: 'user' as const, content: 'Hi' }] }

// #region read
import { createAccumulator } from 'agentwire/messages'

const reader = openaiChat.readStream() // one for each stream
const accumulator = createAccumulator()
for await (const chunk of await client.chat.completions.create({ ...request, stream: true }))
  for (const event of reader.push(chunk)) accumulator.push(event)
for (const event of reader.end()) accumulator.push(event)
const message = accumulator.message() // what readResponse(response).messages has for the whole response
// #endregion

assert.deepEqual(message.content, [{ type: 'text', text: 'Hello again.' }])
