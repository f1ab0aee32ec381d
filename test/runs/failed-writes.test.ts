import { expect, test } from 'vitest'
import { subscribe } from '../../src/engine/index.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Change, Store } from '../../src/storage/store/store.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { rootStates } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { sharedMemory } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

/** A store of which `fails` makes commits fail: before they are applied, or after it. */
function failing(fails: (change: Change) => 'before' | 'after' | undefined, error: Error): Store {
  const store = memoryStore()
  return {
    ...store,
    async commit(partition, change) {
      const when = fails(change)
      if (when === 'before') throw error
      const committed = await store.commit(partition, change)
      if (when === 'after') throw error
      return committed
    },
  }
}

test('a run whose events were written although their commit failed ends behind them', async () => {
  const { agent, emit, finish } = puppet()
  const isEvents = ({ ops }: Change) => ops.length === 1 && ops[0]!.op === 'append'
  const store = failing((change) => (isEvents(change) ? 'after' : undefined), new Error('It broke.'))
  const engine = engineOf({ a: agent }, { store, onError: () => {} })
  // Without a reader the event is written with the end.
  const reader = subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS } })
  const { runId } = await start(engine, 't')
  emit(custom(1))
  finish()
  expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'error' })
  reader.cancel()
  const events = await transcript(engine, 't')
  expect(events.map(({ method }) => method)).toEqual(['lifecycle', 'custom', 'lifecycle'])
  expect(rootStates(events)).toEqual(['running', 'failed'])
  await engine.close()
})

test('a run that waits is accepted only once it is recorded', async () => {
  const { agent, finish } = puppet()
  let isAway = false
  const error = new UnavailableError('It is away.', { written: 'no' })
  const engine = engineOf({ a: agent }, { store: failing(() => (isAway ? 'before' : undefined), error) })
  const { runId } = await start(engine, 't')
  isAway = true
  await expect(start(engine, 't')).rejects.toThrow('It is away.')
  isAway = false
  finish()
  await engine.wait({ threadId: 't', runId })
  expect((await engine.findThread({ threadId: 't' }))?.queue).toEqual([])
  await engine.close()
})

test('a lease is not renewed any more once its run has ended', async () => {
  const place = sharedMemory()()
  const renewals: string[] = []
  const store: Store = {
    ...place.store,
    commit(partition, change) {
      if (change.ops.some(({ op }) => op === 'renew')) renewals.push(partition)
      return place.store.commit(partition, change)
    },
  }
  const { agent, finish } = puppet()
  const engine = engineOf({ a: agent }, { ...place, store, leaseTtlMs: 60 })
  const { runId } = await start(engine, 'ended')
  await eventually(() => renewals.includes('ended'))
  finish()
  await engine.wait({ threadId: 'ended', runId })
  const before = renewals.filter((id) => id === 'ended').length
  await start(engine, 'running')
  await eventually(() => renewals.filter((id) => id === 'running').length > 3)
  expect(renewals.filter((id) => id === 'ended')).toHaveLength(before)
  await engine.close()
})
