import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { persist } from '../../../src/engine/log/appender.ts'
import { ConflictError, FencedError, UnavailableError } from '../../../src/storage/errors.ts'
import type { Store } from '../../../src/storage/store/store.ts'

beforeEach(() => {
  vi.useFakeTimers()
  // Back-off takes nothing off its delays.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const away = new UnavailableError('Away.', { written: 'unknown' })
const conflict = new ConflictError('Another guard.')
const fenced = new FencedError('Lost.')
const fault = new TypeError('A fault.')

/** What the log has: nothing of the change, the change itself, or what the holder of another token wrote. */
const LOGS = {
  before: { head: 4, token: 7 },
  after: { head: 6, token: 7 },
  others: { head: 6, token: 8 },
} as const

type Step = Error | 'committed' | keyof typeof LOGS

/** Commits over a store that answers each commit and each look at the log with the next step. */
async function persisted(steps: readonly Step[], renewed?: Error | 'renewed', retryForMs = 10_000) {
  const left = [...steps]
  const calls: string[] = []
  const begin = performance.now()
  function next<T>(name: string, of: (step: Step) => T): T {
    calls.push(`${name} ${performance.now() - begin}`)
    const step = left.length > 1 ? left.shift()! : left[0]!
    if (step instanceof Error) throw step
    return of(step)
  }
  const store = {
    inspect: async () => next('inspect', (step) => LOGS[step as keyof typeof LOGS]),
    commit: async () => next('commit', (step) => expect(step).toBe('committed')),
  } as unknown as Store
  const done = persist({
    store,
    threadId: 't',
    token: 7,
    before: 4,
    after: 6,
    change: { ops: [] },
    retryForMs,
    ...(renewed && {
      async renew() {
        calls.push('renew')
        if (renewed !== 'renewed') throw renewed
      },
    }),
  }).then(
    () => 'done',
    (error: unknown) => error,
  )
  await vi.runAllTimersAsync()
  return { end: await done, calls }
}

test.each<[string, readonly Step[], unknown, readonly string[]]>([
  ['is made once', ['committed'], 'done', ['commit 0']],
  ['is refused by a conflict', [conflict], conflict, ['commit 0']],
  ['ends with a fault', [fault], fault, ['commit 0']],
  [
    'is made again when it was not written',
    [away, 'before', 'committed'],
    'done',
    ['commit 0', 'inspect 20', 'commit 20'],
  ],
  ['is not made again when it was written', [away, 'after'], 'done', ['commit 0', 'inspect 20']],
  [
    'is not taken for what another has written',
    [away, 'others', fenced],
    fenced,
    ['commit 0', 'inspect 20', 'commit 20'],
  ],
  [
    'is refused by a conflict of another guard after an outage',
    [away, 'before', conflict, 'before'],
    conflict,
    ['commit 0', 'inspect 20', 'commit 20', 'inspect 20'],
  ],
  [
    'is looked for once more when the log has moved meanwhile',
    [away, 'before', conflict, 'after', 'after'],
    'done',
    ['commit 0', 'inspect 20', 'commit 20', 'inspect 20', 'inspect 60'],
  ],
])('a commit %s', async (_, steps, end, calls) => {
  expect(await persisted(steps)).toEqual({ end, calls })
})

test.each<[string, readonly Step[], Error | 'renewed' | undefined, unknown, readonly string[]]>([
  ['cannot be renewed', [fenced], undefined, fenced, ['commit 0']],
  [
    'is renewed, and the commit made again at once',
    [fenced, 'committed'],
    'renewed',
    'done',
    ['commit 0', 'renew', 'commit 0'],
  ],
  ['is renewed once only', [fenced, fenced], 'renewed', fenced, ['commit 0', 'renew', 'commit 0']],
  ['has another holder', [fenced], fault, fault, ['commit 0', 'renew']],
])('an expired lease that %s', async (_, steps, renewed, end, calls) => {
  expect(await persisted(steps, renewed)).toEqual({ end, calls })
})

test('tries are further and further apart, up to a second, until the time is over', async () => {
  const { end, calls } = await persisted([away], undefined, 3_500)
  expect(end).toBe(away)
  expect(calls).toEqual([
    'commit 0',
    ...[20, 60, 140, 300, 620, 1_260, 2_260, 3_260, 4_260].map((at) => `inspect ${at}`),
  ])
})

test('a try at the very end of the time is the last one', async () => {
  const { calls } = await persisted([away], undefined, 60)
  expect(calls).toEqual(['commit 0', 'inspect 20', 'inspect 60'])
})
