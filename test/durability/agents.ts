import { setTimeout as sleep } from 'node:timers/promises'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  type MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { scriptedModel } from '../../src/agents/testing.ts'
import { type Agent, defineAgent, type Message, textOf, tool } from '../../src/index.ts'
import { refuseUnanswered, strict } from '../fixtures/strict.ts'
import { eventually } from '../kit/wait.ts'

/** The input of `tokens`. */
export interface TokensInput {
  readonly count: number
  /** Milliseconds between tokens. */
  readonly everyMs: number
  /** Makes it continue and write after it was told to stop, as a program does that ignores its signal. */
  readonly stubborn?: boolean
}

/** The input of `steps`, which asks at step `askAt` and notes the answer. */
export interface StepsInput {
  readonly count: number
  readonly stepMs: number
  readonly askAt?: number
  /** How many characters each step writes to the state beside its note. */
  readonly ballast?: number
}

/** The input of `asking`. */
export interface AskingInput {
  /** How long the node beside the question takes, in milliseconds. */
  readonly slowMs: number
}

/** The answer that kills the process of `asking`. */
export const DEADLY = 'die'

/** The payload of every custom event of both agents. */
export interface Token {
  readonly n: number
  readonly pid: number
}

/** A plain function, whose run cannot be continued elsewhere. */
const tokens = defineAgent<TokensInput>({
  async run({ input, custom, setState, signal }) {
    for (let n = 0; n < input.count; n++) {
      if (!input.stubborn) signal.throwIfAborted()
      const token: Token = { n, pid: process.pid }
      const written = custom(token)
      if (input.stubborn) void setState({ n })
      else await written
      await sleep(input.everyMs)
    }
    return { last: input.count - 1 }
  },
})

/** A plain function that streams its numbers in one message. */
const talk = defineAgent<TokensInput>({
  inputKeys: ['count', 'everyMs'],
  async run({ input, message }) {
    const words = message()
    for (let n = 0; n < input.count; n++) {
      await words.text(`${n} `)
      await sleep(input.everyMs)
    }
    await words.end()
  },
})

/** A function that can be continued: a message, then one beside an artifact, both of which have its numbers. */
const letter = defineAgent<TokensInput>({
  resumable: true,
  inputKeys: ['count', 'everyMs'],
  async run({ input, message, artifact }) {
    await message('Let me write.')
    const [words, table] = [message(), artifact({ id: 'table', name: 'Table' })]
    for (let n = 0; n < input.count; n++) {
      await words.text(`${n} `)
      await (n % 10 === 5 ? table.data({ n }) : table.text(`${n},`))
      await sleep(input.everyMs)
    }
    await table.end()
    await words.end()
  },
})

const Steps = Annotation.Root({
  count: Annotation<number>,
  stepMs: Annotation<number>,
  askAt: Annotation<number | undefined>,
  ballast: Annotation<number | undefined>,
  weight: Annotation<string>,
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
})

/** A graph that loops `count` times with one checkpoint each, and notes the process of each step as `<step>@<pid>`. */
const steps = new StateGraph(Steps)
  .addNode('step', async (state, config: LangGraphRunnableConfig) => {
    const n = state.log.length
    const answer = n === state.askAt ? `=${String(interrupt({ question: `step ${n}?` }))}` : ''
    for (const _ of [1, 2]) {
      const token: Token = { n, pid: process.pid }
      config.writer?.(token)
      await sleep(state.stepMs / 2)
    }
    const weight = state.ballast ? { weight: String(n % 10).repeat(state.ballast) } : {}
    return { log: [`${n}${answer}@${process.pid}`], ...weight }
  })
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ log, count }) => (log.length < count ? 'step' : END), ['step', END])
  .compile()

/** A model that says `word` a number of times, under an id of its process. */
class Speaker extends BaseChatModel {
  private calls = 0

  _llmType(): string {
    return 'speaker'
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined
    for await (const chunk of this._streamResponseChunks(messages)) whole = whole?.concat(chunk) ?? chunk
    return { generations: [whole!] }
  }

  override async *_streamResponseChunks(messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    const id = `ai-${process.pid}-${++this.calls}`
    const asked = messages.findLast((message) => message.getType() === 'human')!
    const [words, everyMs] = asked.text.split(' ').map(Number) as [number, number]
    for (let n = 0; n < words; n++) {
      await sleep(everyMs)
      yield new ChatGenerationChunk({ text: '', message: new AIMessageChunk({ content: `${n} `, id }) })
    }
  }
}

/** A graph that answers `<words> <milliseconds between words>` with three messages of so many words. */
const story = (() => {
  const model = new Speaker({})
  const say = async (state: typeof MessagesAnnotation.State) => ({
    messages: [await model.invoke(state.messages)],
  })
  return new StateGraph(MessagesAnnotation)
    .addNode('first', say)
    .addNode('second', say)
    .addNode('third', say)
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', 'third')
    .addEdge('third', END)
    .compile()
})()

const Asking = Annotation.Root({
  slowMs: Annotation<number>,
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
})

/** A graph that asks while another of its nodes works. */
const asking = new StateGraph(Asking)
  .addNode('ask', () => {
    const answer = String(interrupt('go?'))
    if (answer === DEADLY) process.kill(process.pid, 'SIGKILL')
    return { log: [answer] }
  })
  .addNode('slow', async ({ slowMs }) => {
    await sleep(slowMs)
    return { log: ['slow'] }
  })
  .addEdge(START, 'ask')
  .addEdge(START, 'slow')
  .compile()

/** A function whose tool runs until its process ends. It cannot be continued elsewhere, and its provider refuses dead histories. */
const worker = defineAgent({
  async run({ messages, message, tool }) {
    refuseUnanswered(messages)
    if (messages.length > 1) return void (await message('Alive.'))
    await tool('work', {}, () => new Promise(() => {}))
  },
})

/** A graph whose tool kills its process, in each attempt of the run. */
const deadly = (() => {
  const model = strict((messages) =>
    messages.length > 1 ? { text: 'Alive.' } : { toolCalls: [{ id: 'call_work', name: 'work', args: {} }] },
  )
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => {
      const { content, tool_calls } = await model.invoke(messages)
      // The model's own ids begin again with each process.
      return { messages: [new AIMessage({ content, ...(tool_calls && { tool_calls }) })] }
    })
    .addNode('tools', async ({ messages }, { configurable }: LangGraphRunnableConfig) => {
      if (messages.at(-1)!.text !== '') return {}
      const { thread_id, __pregel_checkpointer: saver } = configurable as {
        readonly thread_id: string
        readonly __pregel_checkpointer: MemorySaver
      }
      await eventually(async () => {
        const tuple = await saver.getTuple({ configurable: { thread_id } })
        return (
          (tuple?.checkpoint.channel_values.messages as unknown[] | undefined)?.length === messages.length
        )
      })
      process.kill(process.pid, 'SIGKILL')
      return {}
    })
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .compile()
})()

/** The process that ran the first tool, as the model read it. */
const pidIn = (messages: readonly Message[]) =>
  Number(textOf(messages.find(({ role }) => role === 'tool') ?? { content: [] }))

/** An agent with a model, whose second tool kills the process that ran the first one. */
const handy = defineAgent({
  model: scriptedModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool').length
    if (results === 0) return { calls: [{ name: 'note', id: 'call_note' }] }
    if (results === 1) return { calls: [{ name: 'work', id: 'call_work', args: { pid: pidIn(messages) } }] }
    return 'Done.'
  }),
  tools: {
    note: tool({ run: () => String(process.pid) }),
    work: tool({
      input: { type: 'object', properties: { pid: { type: 'number' } } },
      run({ pid }) {
        if (pid === process.pid) process.kill(process.pid, 'SIGKILL')
        return `Taken over by ${process.pid}`
      },
    }),
  },
})

export const agents: Readonly<Record<string, Agent>> = {
  handy,
  tokens,
  talk,
  letter,
  steps: langgraph(steps),
  story: langgraph(story),
  asking: langgraph(asking),
  worker,
  deadly: langgraph(deadly),
}
