import { setTimeout as sleep } from 'node:timers/promises'
import { Annotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { AgentEngine } from '../../src/engine/index.ts'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { PLACES } from '../kit/databases.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import type { Place } from '../kit/shared.ts'
import { gate } from '../kit/wait.ts'

const STEPS = 10
/** So much text is added in a step that a few steps fill the queue of a log. */
const TEXT = 'x'.repeat(100_000)

const State = Annotation.Root({
  texts: Annotation<readonly string[]>({ reducer: (one, two) => [...one, ...two], default: () => [] }),
})

/** Each step adds a long text at once, so that the graph is ahead of a log that is slow. */
function quickSteps(): Agent {
  const graph = new StateGraph(State) as unknown as {
    addNode(name: string, node: () => object): void
    addEdge(from: string, to: string): void
    compile(): never
  }
  for (let at = 0; at < STEPS; at++) {
    graph.addNode(`step ${at}`, () => ({ texts: [`${at} ${TEXT}`] }))
    graph.addEdge(at === 0 ? START : `step ${at - 1}`, `step ${at}`)
  }
  return langgraph(graph.compile())
}

const quickFunction = defineAgent({
  async run({ setState }) {
    for (let at = 0; at < STEPS; at++) await setState({ [`text ${at}`]: TEXT })
  },
})

/** A storage whose log takes `ms` milliseconds for each append, and whose saver takes as long for each checkpoint. */
function slowed({ store, checkpointer }: Place, ms: number): Place {
  const slow =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      await sleep(ms)
      const result = await method(...args)
      await sleep(ms)
      return result
    }
  return {
    checkpointer: Object.assign(Object.create(checkpointer), {
      // Such views would pass by what is slow here.
      withFence: undefined,
      withSerde: undefined,
      getTuple: checkpointer.getTuple.bind(checkpointer),
      list: checkpointer.list.bind(checkpointer),
      put: slow(checkpointer.put.bind(checkpointer)),
      putWrites: checkpointer.putWrites.bind(checkpointer),
      deleteThread: checkpointer.deleteThread.bind(checkpointer),
    }),
    store: {
      ...store,
      async commit(partition, change) {
        if (change.ops.some(({ op }) => op === 'append')) await sleep(ms)
        return store.commit(partition, change)
      },
    },
  }
}

/** The steps in a thread's checkpoints, and those of which its log tells with their values, oldest first. */
async function stepsOf(engine: AgentEngine, { checkpointer }: Place, threadId: string) {
  const events = await transcript(engine, threadId)
  const told = events.flatMap(({ method, params }, i) =>
    method === 'checkpoints' && events[i + 1]?.method === 'values'
      ? [(params.data as { step: number }).step]
      : [],
  )
  const written: number[] = []
  const address = { configurable: { thread_id: threadId, checkpoint_ns: '' } }
  for await (const { metadata } of checkpointer.list(address)) written.unshift(metadata!.step)
  return { told, written }
}

const AGENTS: Readonly<Record<string, { readonly agent: Agent; readonly rest?: object }>> = {
  'a graph': { agent: quickSteps() },
  'a graph that saves before it goes on': {
    agent: quickSteps(),
    rest: { config: { configurable: {}, durability: 'sync' } },
  },
  'a function': { agent: quickFunction },
}

type Stop = (engine: AgentEngine, run: { threadId: string; runId: string }) => Promise<unknown>

const STOPS: Readonly<Record<string, Stop>> = {
  'a cancel': (engine, run) => engine.cancel(run),
  'a run that interrupts it': async (engine, run) => {
    const next = { threadId: run.threadId, assistantId: 'a', multitaskStrategy: 'interrupt' } as const
    const { runId } = await engine.start({ ...next, input: null })
    await engine.cancel({ threadId: run.threadId, runId })
  },
  'a rollback': (engine, run) => engine.cancel({ ...run, action: 'rollback' }),
}

describe.each(PLACES)('over $name, of a storage that is slow', ({ open }) => {
  describe.each(Object.entries(AGENTS))('%s', (_, { agent, rest }) => {
    test.each(Object.entries(STOPS))(
      'keeps the steps that were told, and no other, after %s',
      async (stopped, stop) => {
        const place = await open()
        const slow = slowed(place, 10)
        const engine = engineOf({ a: agent }, { ...slow, cancelGraceMs: 100 })
        onTestFinished(() => engine.close())
        for (const at of [1, 3]) {
          const threadId = `${stopped} ${at}`
          const run = { threadId, ...(await start(engine, threadId, {}, rest)) }
          let seen = 0
          for await (const event of engine.events(run))
            if (event.type !== 'gap' && event.method === 'values' && ++seen === at) await stop(engine, run)
          const { told, written } = await stepsOf(engine, place, threadId)
          expect(told.length).toBeGreaterThan(0)
          // The input of a graph, and the first step, which changes nothing, have no events.
          const unannounced = [-1, 0].filter((step) => !told.includes(step))
          const kept = written.filter((step) => !unannounced.includes(step))
          expect(kept, `${stopped} at ${at}`).toEqual(stopped === 'a rollback' ? [] : told)
        }
      },
    )
  })
})

test('a state that was written during a stop is told, though the first read of it fails', async () => {
  const storage = memoryCheckpointer()
  const writing = gate()
  const stopped = gate()
  let puts = 0
  let failures = 0
  const checkpointer: Checkpointer = Object.assign(Object.create(storage), {
    withFence: undefined,
    async put(...args: Parameters<Checkpointer['put']>) {
      if (++puts === 3) {
        writing.open()
        await stopped.opened
      }
      return storage.put(...args)
    },
    async getTuple(config: Parameters<Checkpointer['getTuple']>[0]) {
      if (puts >= 3 && failures++ === 0) throw new UnavailableError('Away.', { written: 'no' })
      return storage.getTuple(config)
    },
  })
  const store = memoryStore()
  // Calls of a store over a network are tried again.
  const capabilities = { ...store.capabilities, shared: true }
  const place = { store: { ...store, capabilities }, checkpointer }
  const engine = engineOf({ a: quickFunction }, { ...place, cancelGraceMs: 10 })
  onTestFinished(() => engine.close())
  const run = { threadId: 't', ...(await start(engine, 't')) }
  await writing.opened
  await engine.cancel(run)
  // The agent is given up before its write has settled.
  await sleep(50)
  stopped.open()
  const { told, written } = await stepsOf(engine, place, 't')
  expect(written).toHaveLength(3)
  expect(failures).toBeGreaterThan(1)
  expect(told.at(-1)).toBe(written.at(-1))
})
