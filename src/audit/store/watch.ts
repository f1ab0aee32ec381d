import type { PartitionChange } from '../../storage/store/store.ts'
import { eventually } from '../check.ts'
import { type Checks, rulesOf } from '../rules.ts'
import { claim, outcome, refused, same } from './claims.ts'
import { append, LONG, put, type StoreContext, take } from './rule.ts'

const NAMES = {
  'watch.rings': 'notifies after a commit, when the change can be read, and not after it was stopped',
  'watch.faulty-listener': 'commits even if a listener throws, and notifies the others',
  'handle.close': 'rejects every call after close, and can be closed twice',
}

const checks: Checks<keyof typeof NAMES, StoreContext> = {
  async 'watch.rings'({ store, partition, commit }) {
    const changes: PartitionChange[] = []
    const stopped: PartitionChange[] = []
    const heads: Promise<number>[] = []
    const stop = store.watch(partition, (change) => {
      changes.push(change)
      heads.push(store.inspect(partition).then(({ head }) => head))
    })
    const stopOther = store.watch(partition, (change) => stopped.push(change))
    stopOther()
    stopOther()
    const of = (kind: 'log' | 'docs') => () => changes.some((change) => change[kind])
    await notifies('the log', () => commit(append(1, 'a')), of('log'))
    const isThere = (await Promise.all(heads)).some((head) => head > 0)
    claim(isThere, 'the event can be read when the notification comes')
    changes.length = 0
    await notifies('a document', () => commit(put('c', 'a')), of('docs'))
    changes.length = 0
    await notifies('the lease', () => commit(take(1, LONG, 'o')), of('docs'))
    stop()
    same(stopped, [], 'notifications of a watch that was stopped')
  },
  async 'watch.faulty-listener'({ store, partition, commit }) {
    let isNotified = false
    const stops = [
      store.watch(partition, () => {
        throw new Error('a listener of the audit that throws on purpose')
      }),
      store.watch(partition, () => {
        isNotified = true
      }),
    ]
    same((await commit(append(1, 'a'))).head, 1, 'the head')
    await eventually('a notification of the other listener', async () => isNotified, Boolean)
    for (const stop of stops) stop()
  },
  async 'handle.close'({ open }) {
    const store = await open()
    await store.setup()
    await store.setup()
    await store.close()
    await store.close()
    const calls: [string, () => Promise<unknown>][] = [
      ['get', () => store.get('p', 'c', 'a')],
      ['list', () => store.list('c')],
      ['count', () => store.count('c', 'k')],
      ['commit', () => store.commit('p', { ops: [] })],
      ['read', () => store.read('p', { after: 0 })],
      ['inspect', () => store.inspect('p')],
      ['assertFence', () => store.assertFence('p', 1)],
      ['expired', () => store.expired()],
      ['trim', () => store.trim('p', { keepLast: 1 })],
      ['sweep', () => store.sweep()],
      ['watch', async () => store.watch('p', () => {})],
    ]
    for (const [name, call] of calls) await refused(call(), 'UnavailableError', name)
  },
}

export const watchRules = /* @__PURE__ */ rulesOf(NAMES, checks)

/** A notification may be lost, so a second commit may be needed. */
export async function notifies(
  of: string,
  commit: () => Promise<unknown>,
  isNotified: () => boolean,
): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) {
    await commit()
    const [error] = await outcome(eventually(of, async () => isNotified(), Boolean, 1_000))
    if (error === undefined) return
  }
  claim(false, `two commits give a notification of ${of}`)
}
