import assert from 'node:assert/strict'
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { openAi } from 'agentwire/openai'
import { intercept } from '../kit/intercept.ts'

const assistant = defineAgent({
  async run({ messages, message, config }) {
    const answer = message()
    const [tool] = (config.configurable.client_tools ?? []) as readonly { function: { name: string } }[]
    if (tool) await answer.toolCall({ id: 'call_1', name: tool.function.name, args: {} })
    else await answer.text(`You said: ${textOf(messages.at(-1)!)}`)
    await answer.end()
  },
})
const server = createAgentServer({ agents: { assistant }, faces: [openAi()] })
intercept('127.0.0.1:3000', server.fetch)

// #region client
import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: 'http://127.0.0.1:3000/v1',
  apiKey: 'a token that `authenticate` knows',
})

const first = await openai.responses.create({ model: 'assistant', input: 'Hello' })
const second = await openai.responses.create({
  model: 'assistant',
  input: 'And now?',
  previous_response_id: first.id,
})
console.log(second.output_text)

// #region background
const { id } = await openai.responses.create({ model: 'assistant', input: 'Hello', background: true })
const events = await openai.responses.retrieve(id, { stream: true, starting_after: 2 })
for await (const event of events) console.log(event.sequence_number, event.type)
// #endregion

// #region tools
const { choices } = await openai.chat.completions.create({
  model: 'assistant',
  messages: [{ role: 'user', content: 'What time is it?' }],
  tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }],
})
const calls = choices[0]?.message.tool_calls // finish_reason: 'tool_calls'
// #endregion
// #endregion

assert.equal(second.output_text, 'You said: And now?')
assert.equal(calls?.[0]?.id, 'call_1')
await server.close()
