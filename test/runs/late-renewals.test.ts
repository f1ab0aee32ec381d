import { emptyCheckpoint } from '@langchain/langgraph-checkpoint'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Agent, AgentTask } from '../../src/agents/agent.ts'
import type { AgentEngineOptions } from '../../src/engine/index.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { engineOf, start } from '../kit/engine.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { killable, type Place, SHARED } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

const threadId = 't'

/** Lets the lease of the thread expire, as where its holder could not renew it in time. */
async function expire(store: Store): Promise<void> {
  const { token } = await store.inspect(threadId)
  await store.commit(threadId, { ops: [{ op: 'renew', token, ttlMs: 0 }] })
}

function engineAt(place: Place, options: Partial<AgentEngineOptions> = {}, overrides: Partial<Agent> = {}) {
  const actor = puppet(overrides)
  const engine = engineOf({ a: actor.agent }, { ...place, ...options })
  onTestFinished(() => engine.close())
  return { ...actor, engine }
}

describe.each(Object.entries(SHARED))(
  'a process over %s whose lease has expired and was not taken',
  (_, shared) => {
    test('takes it again with its next event, and its run goes on to its end', async () => {
      const place = shared()()
      const { engine, emit, finish } = engineAt(place)
      const { runId } = await start(engine, threadId)
      for (let times = 0; times < 4; times++) {
        await expire(place.store)
        emit(custom(times))
        await eventually(async () => {
          const { lease, now } = await place.store.inspect(threadId)
          return lease !== undefined && lease.expiresAt > now
        })
      }
      finish()
      expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    })

    test('renews it by its timer, too', async () => {
      const place = shared()()
      const { engine, finish } = engineAt(place, { leaseTtlMs: 300 })
      const { runId } = await start(engine, threadId)
      await expire(place.store)
      await eventually(async () => {
        const { lease, now } = await place.store.inspect(threadId)
        return lease !== undefined && lease.expiresAt > now
      })
      finish()
      expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    })

    test('does not take its own run over while it executes it', async () => {
      const place = shared()()
      const { engine, finish, tasks } = engineAt(place, { leaseTtlMs: 60_000 }, { resumable: true })
      const { runId } = await start(engine, threadId)
      await expire(place.store)
      // Whoever starts a run looks after the one that is there.
      await start(engine, threadId).catch(() => {})
      expect(tasks).toHaveLength(1)
      finish()
      finish()
      expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    })

    test('takes it again with its next checkpoint, in the same attempt', async () => {
      const place = shared()()
      let save = () => {}
      const told = new Promise<void>((resolve) => (save = resolve))
      const saves: AgentTask[] = []
      const { engine } = engineAt(
        place,
        { leaseTtlMs: 60_000 },
        {
          async *stream(task) {
            saves.push(task)
            await told
            const at = { configurable: { thread_id: task.threadId, checkpoint_ns: '' } }
            const saved = await task.checkpointer.put(
              at,
              emptyCheckpoint(),
              { source: 'loop', step: 0, parents: {} },
              {},
            )
            await task.checkpointer.putWrites(saved, [['a', 1]], 'task')
            yield custom('saved')
          },
        },
      )
      const { runId } = await start(engine, threadId)
      await eventually(() => saves.length === 1)
      await expire(place.store)
      save()
      expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
      expect(saves).toHaveLength(1)
    })

    test('leaves its run to another process that takes it over right then, and starts behind it what it is asked to', async () => {
      const place = shared()()
      let isTaken = false
      const store: Store = {
        ...place.store,
        async commit(partition, change) {
          if (!isTaken && change.ops.some((op) => op.op === 'renew' && op.ttlMs === 60_000)) {
            isTaken = true
            const { token } = await place.store.inspect(threadId)
            await place.store.commit(threadId, {
              ops: [{ op: 'claim', owner: 'other', token: token + 1, ttlMs: 60_000 }],
            })
          }
          return place.store.commit(partition, change)
        },
      }
      const { engine } = engineAt({ ...place, store }, { leaseTtlMs: 60_000 })
      await start(engine, threadId)
      await expire(place.store)
      await start(engine, threadId, {}, { multitaskStrategy: 'enqueue' })
      expect(isTaken).toBe(true)
    })
  },
)

test.each(Object.entries(SHARED))(
  'over %s: a run that a living process took over again and again is still continued by another one when that is lost',
  async (_, shared) => {
    const open = shared()
    const { place, kill } = killable(open())
    const store: Store = {
      ...place.store,
      async commit(partition, change) {
        // The end of a run is not written, so its lease expires at once.
        if (change.ops.some(({ op }) => op === 'release')) throw new Error('The disk is full.')
        return place.store.commit(partition, change)
      },
    }
    const options = { sweepMs: 20, leaseTtlMs: 600, onError: () => {} }
    const first = engineAt({ ...place, store }, options, { resumable: true })
    const { runId } = await start(first.engine, threadId)
    for (let attempt = 1; attempt <= 4; attempt++) {
      await eventually(() => first.tasks.length === attempt)
      if (attempt < 4) first.finish()
    }
    kill()
    const second = engineAt(open(), options, { resumable: true })
    second.finish()
    expect(await second.engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    expect(second.tasks).toHaveLength(1)
  },
)
