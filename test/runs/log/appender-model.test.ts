import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextTurn } from '../../../src/core/time.ts'
import { type Appender, createAppender } from '../../../src/engine/log/appender.ts'
import { readLog } from '../../../src/engine/log/decode.ts'
import { createLogWatchers } from '../../../src/engine/log/watchers.ts'
import { ConflictError, UnavailableError } from '../../../src/storage/errors.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import type { Store } from '../../../src/storage/store/store.ts'

type Step = 'push' | 'flush' | 'commit' | 'turn' | 'wait'
/** How the store takes a commit: it writes it, now or later, writes it and loses the answer, or refuses it. */
type Trouble = 'none' | 'late' | 'lost' | 'away' | 'conflict'

const TOKEN = 7
const custom = (payload: string) => ({ method: 'custom', namespace: [], data: { payload } }) as const

function troubled(inner: Store, troubles: Trouble[], coalesceMs: number): Store {
  return {
    ...inner,
    capabilities: { ...inner.capabilities, coalesceMs },
    async commit(partition, change) {
      const trouble = troubles.shift() ?? 'none'
      if (trouble === 'late') await new Promise((resolve) => setTimeout(resolve, 2))
      if (trouble === 'away') throw new UnavailableError('Away.', { written: 'no' })
      const isJoined = change.ops.some(({ op }) => op === 'put')
      if (trouble === 'conflict' && isJoined) throw new ConflictError('Another has written.')
      const committed = await inner.commit(partition, change)
      if (trouble === 'lost') throw new UnavailableError('Lost.', { written: 'unknown' })
      return committed
    },
  }
}

const appenderOver = (
  store: Store,
  watchers: ReturnType<typeof createLogWatchers>,
  retryForMs: number,
): Appender =>
  createAppender({
    store,
    watchers,
    threadId: 't',
    runId: 'r',
    token: TOKEN,
    head: 0,
    claimedAt: 0,
    retryForMs,
    eventLength: 1_000,
    renew: async () => {},
  })

/** A commit, and again where the records have changed, as the end of a run is. */
async function commitAgain(appender: Appender, what: string): Promise<void> {
  for (;;) {
    try {
      await appender.commit([custom(what)], [], [{ op: 'put', collection: 'c', id: what, value: what }])
      return
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

const steps = fc.array(fc.constantFrom<Step>('push', 'push', 'push', 'flush', 'commit', 'turn', 'wait'), {
  maxLength: 40,
})
const troubles = fc.array(fc.constantFrom<Trouble>('none', 'none', 'late', 'lost', 'away', 'conflict'), {
  maxLength: 30,
})

test('what was pushed is in the log once and in order, whatever commits join it, and each flush and commit settles', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      troubles,
      fc.constantFrom(0, 3),
      fc.boolean(),
      async (work, trouble, coalesceMs, isRead) => {
        const inner = memoryStore()
        await inner.commit('t', { ops: [{ op: 'claim', owner: 'me', token: TOKEN, ttlMs: 60_000 }] })
        const store = troubled(inner, [...trouble], coalesceMs)
        const watchers = createLogWatchers(store)
        if (isRead) watchers.open('t', () => {})
        const appender = appenderOver(store, watchers, 10_000)
        const written: string[] = []
        const commits: string[] = []
        const flushes: Promise<void>[] = []
        for (const [i, step] of work.entries()) {
          if (step === 'push') {
            void appender.push(custom(`e${i}`))
            written.push(`e${i}`)
          } else if (step === 'flush') {
            const before = written.length
            flushes.push(
              appender.flush().then(async () => {
                expect((await inner.inspect('t')).head).toBeGreaterThanOrEqual(before)
              }),
            )
          } else if (step === 'commit') {
            // An agent is not asked for more while its question is being written.
            written.push(`c${i}`)
            commits.push(`c${i}`)
            await commitAgain(appender, `c${i}`)
          } else if (step === 'turn') await nextTurn()
          else await new Promise((resolve) => setTimeout(resolve, 4))
        }
        await commitAgain(appender, 'end')
        await Promise.all(flushes)
        expect(appender.hasFailed()).toBe(false)
        const seen: unknown[] = []
        for await (const event of readLog(inner, 't', () => true))
          if (event.type === 'event') seen.push((event.data as { payload: unknown }).payload)
        expect(seen).toEqual([...written, 'end'])
        const docs = await inner.list('c')
        expect(docs.docs.map(({ id }) => id).sort()).toEqual([...commits, 'end'].sort())
      },
    ),
    { numRuns: 150 },
  )
})

test('a commit that joins events which cannot be written fails with them, and the next flush tells why', async () => {
  const inner = memoryStore()
  await inner.commit('t', { ops: [{ op: 'claim', owner: 'me', token: TOKEN, ttlMs: 60_000 }] })
  let commits = 0
  const full = new Error('disk full')
  const store: Store = {
    ...inner,
    async commit(...args) {
      if (++commits === 2) throw full
      return inner.commit(...args)
    },
  }
  const watchers = createLogWatchers(store)
  watchers.open('t', () => {})
  const appender = appenderOver(store, watchers, 0)
  void appender.push(custom('first'))
  void appender.push(custom('second'))
  await expect(appender.commit([custom('end')], [], [])).rejects.toBe(full)
  expect(appender.hasFailed()).toBe(true)
  await expect(appender.commit([custom('end')], [], [])).rejects.toBe(full)
  await expect(appender.flush()).rejects.toBe(full)
  await appender.commit([custom('failed')], [], [])
  expect((await inner.inspect('t')).head).toBe(2)
})
