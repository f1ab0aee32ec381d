import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { z } from 'zod'

interface ModelOptions {
  /** As the provider names it in its response. */
  readonly name: string
  readonly usage: NonNullable<AIMessage['usage_metadata']>
  readonly reply: (messages: readonly BaseMessage[]) => Reply
}

interface Reply {
  readonly content: string
  readonly tool_calls?: AIMessage['tool_calls']
}

/** A chat model without a network that names itself and counts tokens. */
class CountingModel extends BaseChatModel {
  private readonly options: ModelOptions

  constructor(options: ModelOptions) {
    super({})
    this.options = options
  }

  _llmType(): string {
    return 'counting'
  }

  override bindTools(): this {
    return this
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const { name, usage, reply } = this.options
    const about = { usage_metadata: usage, response_metadata: { model_name: name } }
    const message = new AIMessage({ ...reply(messages), ...about } as never)
    return { generations: [{ text: message.text, message }] }
  }
}

export const LARGE = { input_tokens: 1_200, output_tokens: 300, total_tokens: 1_500 }
export const CACHED = { ...LARGE, input_token_details: { cache_read: 1_000, cache_creation: 100 } }
export const THINKING = { ...LARGE, output_token_details: { reasoning: 120 } }

const lookUp = tool(({ place }) => `${place} has 12 museums.`, {
  name: 'look_up',
  description: 'Looks up a place.',
  schema: z.object({ place: z.string() }),
})

const textOf = (messages: readonly BaseMessage[]): string =>
  messages.findLast((message) => message.getType() === 'human')?.text ?? ''

/** Plans a trip: a model, an agent with a tool as a subgraph, a check that fails or asks where it is told to, and an answer. */
export const trips = () => {
  const researcher = createAgent({
    model: new CountingModel({
      name: 'atlas-small-2026-01-31',
      usage: CACHED,
      reply: (messages) =>
        messages.at(-1)?.getType() === 'tool'
          ? { content: 'It has museums.' }
          : {
              content: '',
              tool_calls: [{ id: 'call_1', name: 'look_up', args: { place: textOf(messages) } }],
            },
    }),
    tools: [lookUp],
  })
  const planner = new CountingModel({
    name: 'atlas-large',
    usage: THINKING,
    reply: () => ({ content: 'I look it up.' }),
  })
  const writer = new CountingModel({
    name: 'unpriced-1',
    usage: LARGE,
    reply: (messages) => ({ content: `Go to ${textOf(messages)}.` }),
  })
  return new StateGraph(MessagesAnnotation)
    .addNode('plan', async ({ messages }) => ({ messages: [await planner.invoke(messages)] }))
    .addNode('research', researcher.graph)
    .addNode('check', ({ messages }) => {
      const place = textOf(messages)
      if (place === 'Atlantis') throw new Error('There is no way to Atlantis.')
      if (place === 'Mars') return { messages: [new AIMessage(`Asked: ${interrupt('Really?')}`)] }
      return {}
    })
    .addNode('write', async ({ messages }) => ({ messages: [await writer.invoke(messages)] }))
    .addEdge(START, 'plan')
    .addEdge('plan', 'research')
    .addEdge('research', 'check')
    .addEdge('check', 'write')
    .addEdge('write', END)
    .compile()
}
