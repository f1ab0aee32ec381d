import {
  Annotation,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { AgentEngine } from '../../src/engine/index.ts'
import type { ThreadRecord } from '../../src/engine/records/records.ts'
import { type Agent, defineAgent } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { engineOf, start } from '../kit/engine.ts'
import { gate, turns } from '../kit/wait.ts'

/**
 * Asks its questions one after the other, and notes the answers. The answer `hang` makes it wait until it is stopped, and `hang later`
 * after the answers are in the state.
 */
interface Asker {
  readonly agent: Agent
  /** Settles when it hangs. */
  readonly hangs: Promise<void>
}

const QUESTIONS = ['first?', 'second?']

const untilStopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

const State = Annotation.Root({ answers: Annotation<string[]> })

function graph(): Asker {
  const { opened: hangs, open } = gate()
  const waitFor = async (signal: AbortSignal) => {
    open()
    await untilStopped(signal)
  }
  const compiled = new StateGraph(State)
    .addNode('ask', async (_, { signal }: LangGraphRunnableConfig) => {
      const answers: string[] = []
      for (const question of QUESTIONS) {
        answers.push(interrupt(question))
        if (answers.at(-1) === 'hang') await waitFor(signal!)
      }
      return { answers }
    })
    .addNode('pass', () => ({}))
    .addNode('after', async ({ answers }, { signal }: LangGraphRunnableConfig) => {
      if (answers.at(-1) === 'hang later') await waitFor(signal!)
      return {}
    })
    .addEdge(START, 'ask')
    .addEdge('ask', 'pass')
    .addEdge('pass', 'after')
    .addEdge('after', END)
    .compile()
  return { agent: langgraph(compiled), hangs }
}

function agentFunction(): Asker {
  const { opened: hangs, open } = gate()
  const waitFor = async (signal: AbortSignal) => {
    open()
    await untilStopped(signal)
  }
  const agent = defineAgent({
    async run({ interrupt: ask, signal, setState }) {
      const answers: string[] = []
      for (const question of QUESTIONS) {
        answers.push(await ask(question))
        if (answers.at(-1) === 'hang') await waitFor(signal)
      }
      await setState({ answers })
      if (answers.at(-1) === 'hang later') await waitFor(signal)
    },
  })
  return { agent, hangs }
}

const stateOf = async (engine: AgentEngine) =>
  (await engine.readState((await engine.findThread({ threadId: 't' }))!))!

/** Answers the open question. Gives the questions that are open after it. */
async function answer(engine: AgentEngine, text: string): Promise<readonly unknown[]> {
  const { interrupts } = (await engine.findThread({ threadId: 't' }))!
  const { runId } = await engine.respond({ threadId: 't', answers: { [interrupts[0]!.id]: text } })
  return (await engine.wait({ threadId: 't', runId })).interrupts.map(({ value }) => value)
}

/** Gives an answer that is rolled back while the agent works with it. Gives the questions that are open after it. */
async function undo(
  engine: AgentEngine,
  { hangs }: Asker,
  text: 'hang' | 'hang later',
): Promise<readonly unknown[]> {
  const open = answer(engine, text)
  await hangs
  const { activeRunId } = (await engine.findThread({ threadId: 't' }))!
  await engine.cancel({ threadId: 't', runId: activeRunId!, action: 'rollback' })
  return open
}

test.each([
  ['a graph', graph],
  ['a function', agentFunction],
])('an answer to %s that was rolled back is not given to it again', async (_, create) => {
  const asker = create()
  const engine = engineOf({ a: asker.agent })
  const { runId } = await start(engine, 't')
  await engine.wait({ threadId: 't', runId })
  expect(await undo(engine, asker, 'hang')).toEqual(['first?'])
  expect(await answer(engine, 'one')).toEqual(['second?'])
  expect((await stateOf(engine)).tasks.flatMap(({ interrupts }) => interrupts)).toMatchObject([
    { value: 'second?' },
  ])
  expect(await answer(engine, 'two')).toEqual([])
  expect((await stateOf(engine)).values).toMatchObject({ answers: ['one', 'two'] })
})

test.each([
  { name: 'a graph', create: graph, text: 'hang' },
  { name: 'a graph', create: graph, text: 'hang later' },
  { name: 'a function', create: agentFunction, text: 'hang' },
  { name: 'a function', create: agentFunction, text: 'hang later' },
] as const)(
  '$name keeps the earlier answers where the last one was rolled back: $text',
  async ({ create, text }) => {
    const asker = create()
    const engine = engineOf({ a: asker.agent })
    const { runId } = await start(engine, 't')
    await engine.wait({ threadId: 't', runId })
    expect(await answer(engine, 'one')).toEqual(['second?'])
    expect(await undo(engine, asker, text)).toEqual(['second?'])
    expect((await stateOf(engine)).tasks.flatMap(({ interrupts }) => interrupts)).toMatchObject([
      { value: 'second?' },
    ])
    expect(await answer(engine, 'two')).toEqual([])
    expect((await stateOf(engine)).values).toMatchObject({ answers: ['one', 'two'] })
  },
)

/** A store in which a rolled-back thread's second answer is noted only after the state that it led to is the head. */
function lateAnswers() {
  const store = memoryStore()
  const { opened: moved, open } = gate()
  const late: Store = {
    ...store,
    async commit(threadId, change) {
      const [op] = change.ops
      const record =
        op?.op === 'put' && op.collection === 'threads' ? (op.value as Partial<ThreadRecord>) : {}
      const keeps = JSON.stringify(record.restoredWrites ?? []).includes('hang later')
      if (keeps) await moved
      const committed = await store.commit(threadId, change)
      if (record.restoredCheckpointId === null) open()
      return committed
    },
  }
  return { store: late, moved }
}

test('an answer that is written late does not set a thread back to the state before it', async () => {
  const asker = graph()
  const { store, moved } = lateAnswers()
  const engine = engineOf({ a: asker.agent }, { store })
  const { runId } = await start(engine, 't')
  await engine.wait({ threadId: 't', runId })
  expect(await answer(engine, 'one')).toEqual(['second?'])
  expect(await undo(engine, asker, 'hang')).toEqual(['second?'])
  const [question] = (await engine.findThread({ threadId: 't' }))!.interrupts
  const last = await engine.respond({ threadId: 't', answers: { [question!.id]: 'hang later' } })
  await moved
  await turns(50)
  expect((await stateOf(engine)).values).toMatchObject({ answers: ['one', 'hang later'] })
  await engine.cancel({ threadId: 't', runId: last.runId, action: 'interrupt' })
  await engine.wait({ threadId: 't', runId: last.runId })
})
