import assert from 'node:assert/strict'

// #region serve
import { createAgentServer, defineAgent, textOf } from 'agentwire'
import { serve } from 'agentwire/node'
import { openAi } from 'agentwire/openai'

const assistant = defineAgent({
  async run({ messages, message }) {
    await message(`You said: ${textOf(messages.at(-1)!)}`)
  },
})
const server = createAgentServer({ agents: { assistant }, faces: [openAi()] })
const served = await serve(server, { port: 3000 })
// #endregion

// #region client
import OpenAI from 'openai'

const openai = new OpenAI({ baseURL: `${served.origin}/v1`, apiKey: 'a token that `authenticate` knows' })
const first = await openai.responses.create({ model: 'assistant', input: 'Hello' })
const second = await openai.responses.create({
  model: 'assistant',
  input: 'And now?',
  previous_response_id: first.id,
})
console.log(second.output_text)
// #endregion
assert.equal(second.output_text, 'You said: And now?')

// #region background
const { id } = await openai.responses.create({ model: 'assistant', input: 'Hello', background: true })
const events = await openai.responses.retrieve(id, { stream: true, starting_after: 2 })
for await (const event of events) console.log(event.sequence_number, event.type)
// #endregion

// #region graph
import { StateGraph, START, MessagesAnnotation, type LangGraphRunnableConfig } from '@langchain/langgraph'
import { langgraph } from 'agentwire/langgraph'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }, config: LangGraphRunnableConfig) => {
    const model = chatModel.bindTools(config.configurable?.client_tools ?? [])
    return { messages: [await model.invoke(messages)] }
  })
  .addEdge(START, 'model')
  .compile()
const agent = langgraph(graph)
// #endregion

import { AIMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'

/** Stands for a model: it calls the first tool that it has. */
const chatModel = {
  bindTools: (tools: readonly { readonly function: { readonly name: string } }[]) => ({
    invoke: async (_: readonly BaseMessage[]) =>
      new AIMessage({
        content: '',
        tool_calls: tools.map((tool) => ({ id: 'call_1', name: tool.function.name, args: {} })),
      }),
  }),
}
const other = await serve(createAgentServer({ agents: { agent }, faces: [openAi()] }), {
  port: 0,
  silent: true,
})

async function calledTools() {
  const openai = new OpenAI({ baseURL: `${other.origin}/v1`, apiKey: 'key' })
  // #region tools
  const { choices } = await openai.chat.completions.create({
    model: 'agent',
    messages: [{ role: 'user', content: 'What time is it?' }],
    tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }],
  })
  const calls = choices[0]?.message.tool_calls // finish_reason: 'tool_calls'
  // #endregion
  return calls
}
assert.equal((await calledTools())?.[0]?.id, 'call_1')
await Promise.all([other.close(), served.close()])
