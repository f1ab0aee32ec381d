import { setTimeout as sleep } from 'node:timers/promises'
import { interrupt, START, StateGraph } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Agent, defineAgent } from '../../src/index.ts'
import { openStorage } from '../../src/storage/open.ts'
import { Notes } from '../fixtures/graphs.ts'
import { BACKENDS } from '../kit/backends.ts'
import { dataOf, type Json, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'
import type { Place } from '../kit/shared.ts'
import { eventually, gate } from '../kit/wait.ts'

/** How long the run that asks goes on after its question, in milliseconds. */
const SLOW_MS = 60

/** A node asks, and another one beside it still works. */
const asksBesides = (name: string) => {
  const graph = new StateGraph(Notes)
    .addNode('ask', () => ({ notes: [`${name}: ${String(interrupt('go?'))}`] }))
    .addNode('slow', async () => {
      await sleep(SLOW_MS)
      return { notes: ['slow'] }
    })
    .addEdge(START, 'ask')
    .addEdge(START, 'slow')
    .compile()
  return langgraph(graph)
}

const agents: Readonly<Record<string, Agent>> = {
  graph: asksBesides('graph'),
  function: defineAgent({
    async run({ interrupt, setState }) {
      await setState({ notes: [`function: ${await interrupt<string>('go?')}`] })
    },
  }),
}

const memory = { name: 'memory', open: async (): Promise<Partial<Place>> => ({}) }
const databases = BACKENDS.filter((backend) => backend.installed()).map((backend) => ({
  name: backend.name,
  async open(): Promise<Place> {
    const database = await backend.create()
    const storage = await openStorage(database.url)
    await storage.setup()
    afterAll(async () => {
      await storage.close()
      await database.remove()
    })
    return storage
  },
}))

describe.each([memory, ...databases])('over $name', async ({ open }) => {
  const place = await open()

  test.each(Object.keys(agents))(
    'of twenty runs of a %s, which the SDK answers at once, each goes on',
    async (name) => {
      const host = await serveAgents({ agents, ...place })
      const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
      const refused: unknown[] = []
      const talk = async (): Promise<void> => {
        const thread = client.threads.stream({ assistantId: name })
        const asked = await thread.subscribe(['input'])
        await thread.run.start({ input: {} })
        for await (const event of asked) {
          const { interrupt_id } = (event as Json).params.data
          await thread.input
            .respond({ interrupt_id, namespace: [], response: 'yes' })
            .catch((error) => refused.push(error))
          break
        }
        const logged = await host.thread(thread.threadId).transcript(2)
        expect(rootStates(logged)).toEqual(['running', 'interrupted', 'running', 'completed'])
        expect(dataOf(logged, 'input.requested')).toHaveLength(1)
        const { values } = (await host.thread(thread.threadId).idle()) as Json
        expect(values.notes).toContain(`${name}: yes`)
        await thread.close()
      }
      for (let round = 0; round < 5; round++) await Promise.all([1, 2, 3, 4].map(talk))
      expect(refused).toEqual([])
    },
  )
})

test('while its run is in progress a question is shown until it has an answer, and no message takes it away', async () => {
  const { opened: released, open: release } = gate()
  const graph = new StateGraph(Notes)
    .addNode('ask', () => ({ notes: [`answer: ${String(interrupt('go?'))}`] }))
    .addNode('slow', async () => void (await released))
    .addEdge(START, 'ask')
    .addEdge(START, 'slow')
    .compile()
  const host = await serveAgents({ agents: { a: langgraph(graph) } })
  const thread = host.thread()
  await thread.start()
  const stream = await thread.stream()
  const events = await stream.until((seen) => dataOf(seen, 'input.requested').length > 0)
  const [{ interrupt_id }] = dataOf(events, 'input.requested')
  const shown = async () => {
    const { body: state } = await thread.get('/state')
    const { body: record } = await thread.get('')
    expect(record.status).toBe('busy')
    const inState = state.tasks.flatMap((task: Json) => task.interrupts)
    expect(Object.values(record.interrupts).flat()).toEqual(inState)
    return inState.map(({ id }: Json) => id)
  }
  expect(await shown()).toEqual([interrupt_id])
  const message = { role: 'user', content: 'Hello?' }
  expect(await thread.refused('input.inject', { message })).toBe('not_supported')
  const { run_id } = await thread.ok('input.respond', { interrupt_id, response: 'yes' })
  expect(await shown()).toEqual([])
  expect(await thread.refused('input.respond', { interrupt_id, response: 'no' })).toBe('no_such_interrupt')
  release()
  expect((await thread.transcript(2)).at(-1)!.params.data).toMatchObject({ event: 'completed', run_id })
  expect((await thread.idle()).values.notes).toEqual(['answer: yes'])
})

test('input.inject is refused by a question that is announced while it is permitted', async () => {
  const actor = puppet()
  let asking = false
  const host = await serveAgents({
    agents: { a: actor.agent },
    async authorize(_, action) {
      if (!asking || action !== 'runs:create') return true
      const data = { interrupt_id: 'i', payload: 'go?', value: 'go?' }
      actor.emit({ method: 'input.requested', namespace: [], data })
      await eventually(async () => Object.keys((await thread.get('')).body.interrupts).length > 0)
      return true
    },
  })
  const thread = host.thread()
  await thread.start()
  asking = true
  const message = { role: 'user', content: 'Hello?' }
  expect(await thread.refused('input.inject', { message })).toBe('not_supported')
})
