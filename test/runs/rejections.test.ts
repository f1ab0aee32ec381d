import { START, StateGraph } from '@langchain/langgraph'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { rejectionOf } from '../../src/agents/errors.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import {
  type AgentEngineOptions,
  AgentRejection,
  createAgentEngine,
  defineAgent,
  memoryCheckpointer,
  memoryStore,
  type ServerEvent,
} from '../../src/index.ts'
import { Notes } from '../fixtures/graphs.ts'
import { start, transcript } from '../kit/engine.ts'
import { dataOf, isRoot } from '../kit/events.ts'

const REASON = 'I only speak of the weather.'
const declines = (): never => {
  throw new AgentRejection(REASON)
}

const graph = () => new StateGraph(Notes).addNode('a', declines).addEdge(START, 'a').compile()

const agents: Readonly<Record<string, Agent>> = {
  'a function that calls reject': defineAgent({ run: ({ reject }) => reject(REASON) }),
  'a function that rejects in the middle of a message': defineAgent({
    async run({ message, reject }) {
      await message().text('I could ')
      reject(REASON)
    },
  }),
  'a function whose tool rejects': defineAgent({
    run: ({ tool, reject }) => tool('look', {}, (): void => reject(REASON)),
  }),
  'a function whose subagent rejects': defineAgent({
    async run({ subagent, reject }) {
      await subagent('helper', 'help', () => reject(REASON))
    },
  }),
  'a function that throws an error whose cause is a rejection': defineAgent({
    run: () => {
      throw new Error('postgres://app:secret@db', { cause: new AgentRejection(REASON) })
    },
  }),
  'a node of a graph': langgraph(graph() as never),
  'a node of a subgraph': langgraph(
    new StateGraph(Notes).addNode('inner', graph()).addEdge(START, 'inner').compile() as never,
  ),
}

/** An engine that shows no texts of errors, with what it reports. */
function watched(agent: Agent, options: Partial<AgentEngineOptions> = {}) {
  const reported: unknown[] = []
  const told: ServerEvent[] = []
  const engine = createAgentEngine({
    agents: { a: agent },
    store: memoryStore(),
    checkpointer: memoryCheckpointer(),
    onError: (error) => reported.push(error),
    observe: (event) => told.push(event),
    ...options,
  })
  onTestFinished(() => engine.close())
  return { engine, reported, told }
}

for (const [who, agent] of Object.entries(agents)) {
  test(`${who} declines: clients are shown its reason, and nothing is reported`, async () => {
    const { engine, reported, told } = watched(agent)
    const { runId } = await start(engine, 't')
    expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'error', error: REASON })
    const events = await transcript(engine, 't')
    const end = events.filter(isRoot).at(-1)!
    expect(end.params.data).toMatchObject({ event: 'failed', error: REASON })
    const failed = dataOf(events, 'tasks').filter(({ error }) => error)
    expect(failed.length).toBeGreaterThan(0)
    for (const { error } of failed) expect(error).toBe(REASON)
    const state = await engine.readState((await engine.findThread({ threadId: 't' }))!)
    const hidden = 'It failed. This server does not show the reason.'
    expect(state!.tasks.map(({ error }) => error)).toContain(who.includes('cause') ? hidden : REASON)
    expect(JSON.stringify([events, state])).not.toContain('secret')
    expect(reported).toEqual([])
    const [ending] = told.filter((event) => event.type === 'run.ended')
    expect(ending).toMatchObject({ status: 'error', reason: 'failed' })
    expect(rejectionOf(ending?.error)).toBeInstanceOf(AgentRejection)
  })
}

test('a rejection that was caught is still one after the answer to a question', async () => {
  const agent = defineAgent({
    async run({ tool, interrupt, reject }) {
      try {
        await tool('look', {}, () => reject(REASON))
      } catch (error) {
        await interrupt('Shall I decline?')
        throw error
      }
    },
  })
  const { engine, reported } = watched(agent)
  const first = await start(engine, 't')
  await engine.wait({ threadId: 't', ...first })
  const second = await start(engine, 't', 'yes')
  expect(await engine.wait({ threadId: 't', ...second })).toMatchObject({ status: 'error', error: REASON })
  expect(reported).toEqual([])
})

test('a rejection without a reason, and one that is too long, have a text of a sensible length', async () => {
  const agent = defineAgent({ run: ({ input, reject }) => reject(String(input.reason)) })
  const { engine } = watched(agent)
  for (const [reason, shown] of [
    ['', 'The agent declines the task.'],
    ['x'.repeat(3_000), 'x'.repeat(2_000)],
  ]) {
    const { runId } = await start(engine, 't', { reason })
    expect((await engine.wait({ threadId: 't', runId })).error).toBe(shown)
  }
})

test('a rejection in a run whose storage has failed is reported, and not shown', async () => {
  const agent: Agent = {
    ...defineAgent({ run: () => undefined }),
    async *stream({ checkpointer, threadId }) {
      yield* []
      await checkpointer.deleteThread(threadId).catch(declines)
    },
  }
  const deleteThread = () => Promise.reject(new Error('postgres://app:secret@db'))
  const { engine, reported } = watched(agent, { checkpointer: { ...memoryCheckpointer(), deleteThread } })
  const { runId } = await start(engine, 't')
  const { error } = await engine.wait({ threadId: 't', runId })
  expect(error).toMatch(/^The run failed. Error id: /)
  expect(reported.some((one) => rejectionOf(one))).toBe(true)
})

test('an error that causes itself is no rejection, and ends the run as any other', async () => {
  const agent = defineAgent({
    run: () => {
      const error = new Error('round and round')
      error.cause = error
      throw error
    },
  })
  const { engine, reported } = watched(agent)
  const { runId } = await start(engine, 't')
  expect((await engine.wait({ threadId: 't', runId })).error).toMatch(/^The run failed/)
  expect(reported).toHaveLength(1)
})
