import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentServer, createAgentServer, defineAgent } from '../../src/index.ts'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import type { Store } from '../../src/storage/store/store.ts'

export { memoryStorage } from '../../src/storage/memory/storage.ts'

/** The program of a simulated process. Each process evaluates it anew, so that nothing of a module is shared. */

/** The input of every agent: it takes `count` steps of `stepMs` milliseconds, and asks at step `askAt`. */
export interface StepsInput {
  /** The number of the command, which the run's entries in the state begin with. */
  readonly mark: number
  readonly count: number
  readonly stepMs: number
  /** −1: it asks nothing. */
  readonly askAt: number
}

export interface ProgramOptions {
  readonly name: string
  readonly store: Store
  readonly checkpointer: Checkpointer
  readonly leaseTtlMs: number
  readonly cancelGraceMs: number
  readonly runs: number
  readonly onError: (error: unknown) => void
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const Steps = Annotation.Root({
  mark: Annotation<number>,
  count: Annotation<number>,
  stepMs: Annotation<number>,
  askAt: Annotation<number>,
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
})

const answerOf = (given: unknown): string => `=${typeof given === 'string' ? given : JSON.stringify(given)}`

/** A graph with one checkpoint for each step, whose state lists the steps as `<mark>.<n>` or `<mark>.<n>=<answer>`. */
const graphOf = (name: string) =>
  new StateGraph(Steps)
    .addNode('step', async ({ mark, log, askAt, stepMs }, config: LangGraphRunnableConfig) => {
      const n = log.filter((entry) => entry.startsWith(`${mark}.`)).length
      const answer = n === askAt ? answerOf(interrupt({ question: `${mark}.${n}` })) : ''
      for (const half of [1, 2]) {
        config.writer?.({ mark, n, half, by: name })
        await sleep(stepMs / 2)
      }
      return { log: [`${mark}.${n}${answer}`] }
    })
    .addEdge(START, 'step')
    .addConditionalEdges(
      'step',
      ({ log, count, mark }) =>
        log.filter((entry) => entry.startsWith(`${mark}.`)).length < count ? 'step' : END,
      ['step', END],
    )
    .compile()

/** The same as a function, which also calls a tool in each step. */
const functionOf = (name: string, resumable: boolean) =>
  defineAgent<StepsInput>({
    resumable,
    inputKeys: ['mark', 'count', 'stepMs', 'askAt'],
    async run({ input: { mark, count, stepMs, askAt }, tool, custom, interrupt: ask, setState }) {
      const taken: string[] = []
      for (let n = 0; n < count; n++) {
        const answer = n === askAt ? answerOf(await ask({ question: `${mark}.${n}` })) : ''
        await custom({ mark, n, by: resumable ? 'any' : name })
        await tool('work', { mark, n }, () => sleep(stepMs))
        taken.push(`${n}${answer}`)
        await setState({ [`log:${mark}`]: [...taken] })
      }
    },
  })

export function start({ name, runs, ...options }: ProgramOptions): AgentServer {
  return createAgentServer({
    ...options,
    agents: {
      graph: langgraph(graphOf(name)),
      function: functionOf(name, false),
      resumable: functionOf(name, true),
    },
    a2a: false,
    limits: { runs },
    authenticate: (request) => ({ id: request.headers.get('x-owner') ?? '' }),
    sweepMs: 20_000,
  })
}
