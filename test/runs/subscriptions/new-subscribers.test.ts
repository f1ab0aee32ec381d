import { expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { subscribe, type ThreadRecord } from '../../../src/engine/index.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import { threeSteps } from '../../fixtures/graphs.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { engineOf, readUntil, start, transcript } from '../../kit/engine.ts'
import { isTerminal, rootStates } from '../../kit/events.ts'
import { aborted } from '../../kit/wait.ts'

const filter = { channels: ALL_CHANNELS }

/** A thread with one turn. What another run adds to its past is replaced in different ways. */
async function oneTurn() {
  let hangs = false
  const store = memoryStore()
  const graph = threeSteps(async (name, { signal }) => {
    if (!hangs || name !== 'two') return
    await aborted(signal!)
    throw signal!.reason
  })
  const engine = engineOf({ a: langgraph(graph) }, { store })
  await start(engine, 't', { notes: ['first'] })
  await transcript(engine, 't')
  const thread = async (): Promise<ThreadRecord> => (await engine.findThread({ threadId: 't' }))!
  const earlier: string[] = []
  for await (const { checkpoint, values } of engine.readHistory(await thread(), {}, { limit: 20 }))
    if ((values.notes as unknown[])?.length === 2) earlier.push(checkpoint.checkpointId)
  return {
    engine,
    checkpointId: earlier[0]!,
    head: async () => (await store.inspect('t')).head,
    superseded: async () => (await thread()).supersededThroughSeq,
    async rollBack() {
      hangs = true
      const { runId } = await start(engine, 't', { notes: ['second'] })
      const live = subscribe(engine, { threadId: 't', filter, since: 0 })
      await readUntil(live, (events) => events.some(({ params }) => params.data?.notes?.includes('second')))
      live.cancel()
      await engine.cancel({ threadId: 't', runId, action: 'rollback' })
      await transcript(engine, 't', 2)
      hangs = false
    },
    /** What a new client is sent. */
    async replayed() {
      const subscription = subscribe(engine, { threadId: 't', filter })
      const events = await readUntil(subscription, (seen) => seen.some(isTerminal))
      subscription.cancel()
      return events
    },
  }
}

test('after a rollback all events up to its end are superseded, and those of the next run are not', async () => {
  const { engine, head, superseded, rollBack, replayed } = await oneTurn()
  await rollBack()
  expect(await superseded()).toBe(await head())
  const [, values, ...rest] = await replayed()
  expect(values!.params.data).toEqual({ notes: ['first', 'one', 'two', 'three'] })
  expect(rootStates(rest)).toEqual(['running', 'interrupted'])
  expect(rest).toHaveLength(2)
  const before = await head()
  await start(engine, 't', { notes: ['third'] })
  const all = await transcript(engine, 't', 3)
  expect(await superseded()).toBe(before)
  expect((await replayed()).slice(2)).toEqual(all.filter(({ seq }) => seq > before))
})

test('a fork supersedes all events before it, and none of its own', async () => {
  const { engine, checkpointId, head, superseded, replayed } = await oneTurn()
  const before = await head()
  await start(engine, 't', { notes: ['fork'] }, { checkpointId })
  const all = await transcript(engine, 't', 2)
  expect(await superseded()).toBe(before)
  expect((await replayed()).slice(2)).toEqual(all.filter(({ seq }) => seq > before))
})

test('a write onto an earlier checkpoint supersedes all events before it', async () => {
  const { engine, checkpointId, head, superseded, replayed } = await oneTurn()
  await engine.writeState({ threadId: 't', values: { notes: ['edited'] }, asNode: 'one', checkpointId })
  expect(await superseded()).toBe(await head())
  const events = await replayed()
  expect(events.map(({ method }) => method)).toEqual(['checkpoints', 'values', 'lifecycle', 'lifecycle'])
  expect(events[1]!.params.data).toEqual({ notes: ['first', 'one', 'edited'] })
})
