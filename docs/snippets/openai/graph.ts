import assert from 'node:assert/strict'
import { createAgentServer } from 'agentwire'
import { openAi } from 'agentwire/openai'
import { calls, fakeOpenAI } from '../kit/providers.ts'

const asked = fakeOpenAI([calls('now', {})])

// #region graph
import { type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ChatOpenAI } from '@langchain/openai'
import { langgraph } from 'agentwire/langgraph'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }, config: LangGraphRunnableConfig) => {
    const tools = config.configurable?.client_tools ?? []
    const model = new ChatOpenAI({ model: 'gpt-5' }).bindTools(tools)
    return { messages: [await model.invoke(messages)] }
  })
  .addEdge(START, 'model')
  .compile()

export const agent = langgraph(graph)
// #endregion

const server = createAgentServer({ agents: { agent }, faces: [openAi()] })
const response = await server.fetch(
  new Request('http://127.0.0.1/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'agent',
      messages: [{ role: 'user', content: 'What time is it?' }],
      tools: [
        { type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } },
      ],
    }),
  }),
)
const { choices } = await response.json()
assert.equal(choices[0].message.tool_calls[0].function.name, 'now')
assert.equal(asked.length, 1)
await server.close()
