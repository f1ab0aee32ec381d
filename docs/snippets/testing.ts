// #region test
import assert from 'node:assert/strict'
import { createAgentEngine, defineAgent } from 'agentwire'

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const engine = createAgentEngine({ agents: { agent } }) // in memory
const threadId = 'test'
const input = { messages: [{ type: 'human', content: 'Hi' }] }
const { runId } = await engine.start({ threadId, input })
const { status, interrupts } = await engine.wait({ threadId, runId })
assert.deepEqual([status, interrupts], ['success', []])

const thread = await engine.findThread({ threadId })
const state = await engine.readState(thread!)
const { messages } = state!.values as { messages: { type: string; content: unknown }[] }
assert.equal(messages.at(-1)?.content, 'Hello there')
await engine.close()
// #endregion

// #region graph
import { AIMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'

const model = new FakeListChatModel({ responses: ['Forty-two.'] })
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => {
    const answer = await model.invoke(messages)
    return { messages: [new AIMessage(answer.text)] }
  })
  .addEdge('__start__', 'answer')
  .compile()
// #endregion

import { langgraph } from 'agentwire/langgraph'

const other = createAgentEngine({ agents: { agent: langgraph(graph) } })
const second = await other.start({ threadId, input })
assert.equal((await other.wait({ threadId, runId: second.runId })).status, 'success')
await other.close()
