import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import {
  Annotation,
  type BaseCheckpointSaver,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { type Agent, defineAgent } from '../../../src/index.ts'
import { textOf } from '../../../src/messages/index.ts'
import { customEvent, payload } from './events.ts'

/** The input of the agents that send events. */
export interface Work {
  readonly events: number
  /** Bytes of payload in each event. */
  readonly size: number
  /** Whether every event has a turn of the event loop to itself, as the tokens of a real model do. */
  readonly turns?: boolean
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** An agent that sends custom events and nothing else. */
export const burst: Agent = {
  resumable: false,
  async *stream({ start }) {
    const { events, size, turns } = (start.kind === 'input' ? start.value : {}) as Work
    for (let i = 0; i < events; i++) {
      if (turns) await nextTurn()
      yield customEvent(size)
    }
  },
  getState: async () => undefined,
  async *getHistory() {},
  updateState: () => Promise.reject(new TypeError('This agent keeps no state.')),
}

/** Says 2,000 words, each in a turn of the event loop, as they come from a model. */
export const words = defineAgent({
  async run({ message }) {
    const writer = message()
    for (let at = 0; at < 2_000; at++) {
      await nextTurn()
      void writer.text(`word ${at} `)
    }
  },
})

/** As long as the size says, and unlike every other, as what a tool has read is. */
const bigText = (size: number, i: number): string => `${i} `.repeat(size / String(i).length).slice(0, size)

/** An agent that sends big custom events without a pause. */
export const bulk: Agent = {
  ...burst,
  async *stream({ start }) {
    const { events, size } = (start.kind === 'input' ? start.value : {}) as Work
    for (let i = 0; i < events; i++) {
      yield { method: 'custom', namespace: [], data: { payload: bigText(size, i) } }
    }
  },
}

/** The same as an agent function, which awaits its writer. */
export const bulkFunction = defineAgent({
  async run({ input, custom }) {
    const { events, size } = input as unknown as Work
    for (let i = 0; i < events; i++) await custom(bigText(size, i))
  },
})

/** An agent function that answers with one short message. */
export const answer = defineAgent({
  async run({ message }) {
    await message('It is done.')
  },
})

/** What the echo agents say, in chunks: as many words as a number says, else what they are told. */
export const answerTo = (text: string): readonly string[] =>
  /^\d+$/.test(text) ? Array.from({ length: Number(text) }, () => 'word ') : [text]

/** An agent function that says what it is told. */
export const echo = defineAgent({
  async run({ messages, message }) {
    const answer = message()
    for (const chunk of answerTo(textOf(messages.at(-1)!))) await answer.text(chunk)
    await answer.end()
  },
})

const WorkState = Annotation.Root({
  events: Annotation<number>,
  size: Annotation<number>,
  turns: Annotation<boolean>,
})

/** The same agent as a LangGraph node. */
export const writerGraph = new StateGraph(WorkState)
  .addNode('write', async ({ events, size, turns }, config: LangGraphRunnableConfig) => {
    for (let i = 0; i < events; i++) {
      if (turns) await nextTurn()
      config.writer?.(payload(size))
    }
    return {}
  })
  .addEdge(START, 'write')
  .addEdge('write', END)
  .compile()

/** A model without a network. `20` makes it say twenty words at once, and `20 apart` each in a turn of its own, as from a network. */
class WordsModel extends BaseChatModel {
  private replies = 0

  constructor() {
    super({})
  }

  _llmType(): string {
    return 'words'
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined
    for await (const chunk of this._streamResponseChunks(messages)) whole = whole?.concat(chunk) ?? chunk
    return { generations: [whole!] }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options?: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const [words, apart] = String(messages.at(-1)?.content).split(' ')
    const id = `reply-${++this.replies}`
    for (let i = 0; i < Number(words); i++) {
      if (apart) await nextTurn()
      const message = new AIMessageChunk({ content: 'word ', id })
      const chunk = new ChatGenerationChunk({ text: 'word ', message })
      yield chunk
      // Graphs that run in the classic way hear of tokens by this alone.
      await runManager?.handleLLMNewToken('word ', undefined, undefined, undefined, undefined, { chunk })
    }
  }
}

const model = new WordsModel()

const echoing = new StateGraph(MessagesAnnotation)
  .addNode('echo', ({ messages }) => ({ messages: [new AIMessage(messages.at(-1)!.text)] }))
  .addEdge(START, 'echo')
  .addEdge('echo', END)

/** A graph that says what it is told. */
export const echoGraph = echoing.compile()

/** The same graph with a saver of its own, for use without a server. */
export const bareEchoGraph = (checkpointer: unknown) =>
  echoing.compile({ checkpointer: checkpointer as BaseCheckpointSaver })

const answering = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, 'model')
  .addEdge('model', END)

/** A graph that streams one answer of a model, token by token. */
export const tokensGraph = answering.compile()

/** The same graph with a saver of its own, for use without a server. */
export const bareTokensGraph = (checkpointer: unknown) =>
  answering.compile({ checkpointer: checkpointer as BaseCheckpointSaver })
