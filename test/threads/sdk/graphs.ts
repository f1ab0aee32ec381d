import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import type { BaseMessage } from '@langchain/core/messages'
import type { ChatGenerationChunk } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createDeepAgent } from 'deepagents'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { inOrder, Notes, ScriptedChatModel } from '../../fixtures/graphs.ts'
import { gate } from '../../kit/wait.ts'

/** A model that waits between two halves of its answer. */
class HesitantModel extends ScriptedChatModel {
  private readonly hesitate: () => Promise<void>

  constructor(text: string, hesitate: () => Promise<void>) {
    super(inOrder({ text }))
    this.hesitate = hesitate
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    let words = 0
    for await (const chunk of super._streamResponseChunks(messages, options, runManager)) {
      if (words++ === 2) await this.hesitate()
      // Other models of the thread number their messages as well.
      chunk.message.id = `hesitant-${chunk.message.id}`
      yield chunk
    }
  }
}

/** A chat whose answer stops after two words until `release` or a cancel. `reached` settles when it stops there. */
export function hesitant(text = 'one two three four') {
  const { opened: reached, open: reach } = gate()
  const { opened: released, open: release } = gate()
  let signal: AbortSignal | undefined
  const model = new HesitantModel(text, async () => {
    reach()
    await Promise.race([
      released,
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
    ])
  })
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async (state, config) => {
      signal = config.signal
      return { messages: [await model.invoke(state.messages, config)] }
    })
    .addEdge(START, 'model')
    .addEdge('model', END)
    .compile()
  return { graph, reached, release }
}

/** A tool that waits until `release`. */
function waitTool() {
  const { opened: reached, open: reach } = gate()
  const { opened: released, open: release } = gate()
  const wait = tool(
    async () => {
      reach()
      await released
      return 'waited'
    },
    { name: 'wait', description: 'Waits.', schema: z.object({}) },
  )
  return { wait, reached, release }
}

/** An agent whose tool waits until `release`. */
export function slowTool() {
  const { wait, ...gate } = waitTool()
  const graph = createAgent({
    model: new ScriptedChatModel(
      inOrder(
        { text: 'I shall wait.', toolCalls: [{ id: 'call_wait', name: 'wait', args: {} }] },
        { text: 'Done waiting.' },
      ),
    ),
    tools: [wait],
  })
  return { graph, ...gate }
}

/** A deep agent whose subagent `researcher` waits in its tool until `release`. */
export function slowResearcher() {
  const { wait, ...gate } = waitTool()
  const task = { description: 'Find x', subagent_type: 'researcher' }
  const graph = createDeepAgent({
    model: new ScriptedChatModel(
      inOrder({ toolCalls: [{ id: 'call_task', name: 'task', args: task }] }, { text: 'The answer is 5.' }),
    ),
    subagents: [
      {
        name: 'researcher',
        description: 'Finds things.',
        systemPrompt: 'You find things.',
        model: new ScriptedChatModel(
          inOrder({ toolCalls: [{ id: 'call_wait', name: 'wait', args: {} }] }, { text: 'x is 5' }),
        ),
        tools: [wait],
      },
    ],
  })
  return { graph, ...gate }
}

/** A graph that waits in the second step of its first run. */
export function slowSteps() {
  const { opened: reached, open: reach } = gate()
  const { opened: released, open: release } = gate()
  let runs = 0
  const graph = new StateGraph(Notes)
    .addNode('one', () => ({ notes: ['one'] }))
    .addNode('two', async (_, { signal }) => {
      if (runs++ === 0) {
        reach()
        await Promise.race([
          released,
          new Promise((_resolve, reject) =>
            signal?.addEventListener('abort', () => reject(new Error('aborted'))),
          ),
        ])
      }
      return { notes: ['two'] }
    })
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', END)
    .compile()
  return { graph, reached, release }
}
