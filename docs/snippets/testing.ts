// #region test
import assert from 'node:assert/strict'
import { createAgentEngine, defineAgent, tool } from 'agentwire'
import { approve, scriptedModel, toolCallsOf } from 'agentwire/testing'

const refund = tool({ approve: true, run: () => 'Order 17 is refunded.' })
const model = scriptedModel([{ calls: [{ name: 'refund' }] }, 'It is done.'])
const agent = defineAgent({ model, tools: { refund } })

const engine = createAgentEngine({ agents: { agent } }) // in memory
const asked = await engine.run({ input: 'Refund order 17.' })
assert.equal(asked.status, 'interrupted')

const { threadId, interrupts } = asked
const done = await engine.run({ threadId, answers: approve(interrupts) })
assert.deepEqual([done.status, done.text], ['success', 'It is done.'])
assert.equal(toolCallsOf(done.messages)[0]?.result, 'Order 17 is refunded.')
assert.equal(model.inputs.length, 2) // what the model was asked
await engine.close()
// #endregion

// #region graph
import { AIMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'

const fake = new FakeListChatModel({ responses: ['Forty-two.'] })
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => {
    const answer = await fake.invoke(messages)
    return { messages: [new AIMessage(answer.text)] }
  })
  .addEdge('__start__', 'answer')
  .compile()
// #endregion

import { langgraph } from 'agentwire/langgraph'

const other = createAgentEngine({ agents: { agent: langgraph(graph) } })
assert.equal((await other.run({ input: 'Hi' })).text, 'Forty-two.')
await other.close()
