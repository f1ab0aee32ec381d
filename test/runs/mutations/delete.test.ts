import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { subscribe } from '../../../src/engine/index.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { threeSteps } from '../../fixtures/graphs.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { engineOf, readUntil, start, transcript } from '../../kit/engine.ts'
import { isTerminal } from '../../kit/events.ts'
import { custom, puppet } from '../../kit/puppet.ts'
import { killable, type OnCall, type Place, SHARED, type Shared, sharedMemory } from '../../kit/shared.ts'
import { eventually } from '../../kit/wait.ts'

const LEASE_MS = 100

function instance(shared: Shared, agent: Agent, onCall?: OnCall) {
  const { place, kill } = killable(shared(), onCall)
  const engine = engineOf(
    { a: agent },
    { ...place, leaseTtlMs: LEASE_MS, sweepMs: LEASE_MS, cancelGraceMs: 5, onError: () => {} },
  )
  onTestFinished(() => engine.close())
  return { engine, kill }
}

/** Everything that the store and the checkpointer hold of a thread. */
async function leftOf({ store, checkpointer }: Place, threadId = 't'): Promise<unknown[]> {
  const documents = await Promise.all(
    ['threads', 'runs', 'commands'].map((collection) => store.list(collection, { partition: threadId })),
  )
  const log = await store.read(threadId, { after: 0 })
  const checkpoints: unknown[] = []
  for await (const tuple of checkpointer.list({ configurable: { thread_id: threadId } }))
    checkpoints.push(tuple)
  const { lease } = await store.inspect(threadId)
  return [
    ...documents.flatMap(({ docs }) => docs),
    ...Array(log.count),
    ...checkpoints,
    ...(lease ? [lease] : []),
  ]
}

/** Fills a thread with ended runs, a queued run, a run in progress, checkpoints, a key and an interrupted answer. */
async function fill(shared: Shared) {
  const ended = instance(shared, langgraph(threeSteps()))
  await start(ended.engine, 't', { notes: ['x'] }, { command: { key: 'k', fingerprint: 'f' } })
  await transcript(ended.engine, 't')
  await ended.engine.close()
}

/** Deletes a thread with a run in progress and a queued one, and is killed at a call. Gives how many calls it made. */
async function deleteKilledAt(shared: Shared, moment: 'before' | 'after', at: number): Promise<number> {
  await fill(shared)
  let calls = 0
  let deleting = false
  const doomed = instance(shared, puppet().agent, (_, now) => {
    if (deleting && now === moment && ++calls === at) doomed.kill()
  })
  await start(doomed.engine, 't')
  await start(doomed.engine, 't')
  deleting = true
  await doomed.engine.deleteThread({ threadId: 't' }).catch(() => {})
  doomed.kill()
  const other = instance(shared, puppet().agent)
  const place = shared()
  const thread = (await place.store.get('t', 'threads', 't'))?.value as { deleting?: boolean } | undefined
  // A deletion that was killed before it marked the thread has not happened.
  if (thread && !thread.deleting) await other.engine.deleteThread({ threadId: 't' })
  await eventually(async () => (await leftOf(place)).length === 0)
  await start(other.engine, 't')
  expect((await other.engine.findThread({ threadId: 't' }))?.status).toBe('busy')
  // Here, where the rounds wait side by side, and not one after the other when the test has finished.
  await Promise.all([doomed, other].map(({ engine }) => engine.close()))
  return calls
}

test.each(Object.entries(SHARED))(
  'over %s: a deletion that is killed at any of its calls is finished by another instance, and leaves nothing',
  async (_, make) => {
    const calls = await deleteKilledAt(make(), 'before', Number.POSITIVE_INFINITY)
    expect(calls).toBeGreaterThan(10)
    for (const moment of ['before', 'after'] as const) {
      // Each round waits until leases expire.
      await Promise.all(Array.from({ length: calls }, (_, at) => deleteKilledAt(make(), moment, at + 1)))
    }
  },
  60_000,
)

test.each(Object.entries(SHARED))(
  'over %s: deleting on one instance stops the run on another, and drops the subscribers of both',
  async (_, make) => {
    const shared = make()
    await fill(shared)
    const actor = puppet()
    const a = instance(shared, actor.agent)
    const b = instance(shared, puppet().agent)
    await start(a.engine, 't')
    actor.emit(custom(1))
    const open = ({ engine }: typeof a, since?: number) =>
      subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS }, since })
    const early = [open(a), open(b), open(a, 0), open(b, 0)]
    await Promise.all(
      early.map((subscription) =>
        readUntil(subscription, (events) => events.some((e) => e.method === 'custom')),
      ),
    )
    const ends = early.map(async (subscription) => {
      try {
        for (;;) await subscription.next()
      } catch (error) {
        return error
      }
    })
    expect(await b.engine.deleteThread({ threadId: 't' })).toBe(true)
    expect(actor.tasks.at(-1)?.signal.aborted).toBe(true)
    for (const end of ends) expect(await end).toMatchObject({ code: 'no_such_thread' })
    expect(await leftOf(shared())).toEqual([])
    for (const instance of [a, b]) {
      await expect(open(instance).ready()).rejects.toMatchObject({ code: 'no_such_thread' })
      expect(await instance.engine.findThread({ threadId: 't' })).toBeUndefined()
    }
    expect(await a.engine.deleteThread({ threadId: 't' })).toBe(false)
  },
)

test('a subscriber that was not notified of the deletion gets nothing of the next thread with that id', async () => {
  const shared = sharedMemory()
  const deaf = (place: Place): Place => {
    const store: Store = { ...place.store, watch: () => () => {} }
    return { ...place, store }
  }
  for (const before of [0, 3]) {
    const actor = puppet()
    const a = engineOf({ a: actor.agent }, shared())
    const b = engineOf({ a: puppet().agent }, deaf(shared()))
    const threadId = `with ${before} runs`
    await a.createThread({ threadId, principal: { id: 'ann' } })
    const anns = { threadId, principal: { id: 'ann' }, assistantId: 'a', input: {} }
    for (let run = 0; run < before; run++) {
      actor.finish()
      const { runId } = await a.start(anns)
      await a.wait({ ...anns, runId })
    }
    const subscription = subscribe(b, {
      threadId,
      principal: { id: 'ann' },
      filter: { channels: ALL_CHANNELS },
    })
    await subscription.ready()
    if (before > 0) await readUntil(subscription, (events) => events.some(isTerminal))
    const next = subscription.next()
    expect(await a.deleteThread({ threadId, principal: { id: 'ann' } })).toBe(true)
    await a.start({ ...anns, principal: { id: 'bob' } })
    actor.emit(custom("bob's"))
    await expect(next).rejects.toMatchObject({ code: 'no_such_thread' })
    await a.close()
    await b.close()
  }
})
