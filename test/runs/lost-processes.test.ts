import { describe, expect, onTestFinished, test } from 'vitest'
import { loadRun } from '../../src/engine/records/records.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { engineOf, start } from '../kit/engine.ts'
import { puppet } from '../kit/puppet.ts'
import { killable, type Place, SHARED } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

const threadId = 't'
/** Nothing expires by itself. */
const options = { leaseTtlMs: 60_000, sweepMs: 60_000, onError: () => {} }

/** Places of one database, whose store can be away from all of them at once. */
function absence(open: () => Place) {
  let away = false
  const call =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (away) throw new UnavailableError('away', { written: 'no' })
      return method(...args)
    }
  return {
    place(): Place {
      const { store, checkpointer } = open()
      const { get, commit, inspect, read, list } = store
      const reached: Store = {
        ...store,
        get: call(get),
        commit: call(commit),
        inspect: call(inspect),
        read: call(read),
        list: call(list),
      }
      return { store: reached, checkpointer }
    },
    leave: () => void (away = true),
    comeBack: () => void (away = false),
  }
}

function instanceAt(place: Place) {
  const { agent, tasks, finish } = puppet({ resumable: true })
  const engine = engineOf({ a: agent }, { ...place, ...options })
  onTestFinished(() => engine.close())
  return { engine, tasks, finish }
}

type Instance = ReturnType<typeof instanceAt>

/** As where its holder could not renew the lease: it has expired. */
async function expire({ store }: Place): Promise<void> {
  const { token } = await store.inspect(threadId)
  await store.commit(threadId, { ops: [{ op: 'renew', token, ttlMs: 0 }] })
}

/** Whoever starts a run looks after the one that is there. */
const look = (engine: Instance['engine']) =>
  start(engine, threadId, {}, { multitaskStrategy: 'reject' }).catch(() => {})

async function takeOver({ engine, tasks }: Instance): Promise<void> {
  await look(engine)
  await eventually(() => tasks.length === 1)
}

describe.each(Object.entries(SHARED))('over %s, a run', (_, shared) => {
  test('whose store was away from everybody for a lease, again and again, is still continued', async () => {
    const open = shared()
    const store = absence(open)
    let last = instanceAt(store.place())
    const { runId } = await start(last.engine, threadId)
    for (let absences = 0; absences < 12; absences++) {
      const next = instanceAt(store.place())
      store.leave()
      await expect(next.engine.findThread({ threadId })).rejects.toThrow('away')
      store.comeBack()
      await expire(open())
      await takeOver(next)
      last = next
    }
    last.finish()
    expect(await last.engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
  })

  test('that one closing process after the other hands over is still continued', async () => {
    const open = shared()
    const first = instanceAt(open())
    const { runId } = await start(first.engine, threadId)
    let last = first
    for (let closes = 0; closes < 4; closes++) {
      const next = instanceAt(open())
      await last.engine.close()
      await takeOver(next)
      last = next
    }
    last.finish()
    expect(await last.engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
  })

  test('that loses three processes ends, though the store was away before and processes handed it over', async () => {
    const open = shared()
    const store = absence(open)
    const first = instanceAt(store.place())
    const { runId } = await start(first.engine, threadId)
    await first.engine.close()
    await takeOver(instanceAt(store.place()))
    for (let losses = 0; losses < 3; losses++) {
      const { place, kill } = killable(store.place())
      const doomed = instanceAt(place)
      if (losses === 0) {
        store.leave()
        await expect(doomed.engine.findThread({ threadId })).rejects.toThrow('away')
        store.comeBack()
        await expire(open())
      }
      await takeOver(doomed)
      kill()
      await expire(open())
    }
    const last = instanceAt(open())
    await look(last.engine)
    expect(await last.engine.wait({ threadId, runId })).toMatchObject({
      status: 'error',
      error: expect.stringContaining('Send your message again'),
    })
    const { record } = (await loadRun(open().store, threadId, runId))!
    expect([record.attempts, record.excused]).toEqual([5, [1, 2]])
  })
})
