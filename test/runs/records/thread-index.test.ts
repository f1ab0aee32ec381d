import { expect, test } from 'vitest'
import { newThread, type ThreadRecord } from '../../../src/engine/records/records.ts'
import { putThread } from '../../../src/engine/records/thread.ts'

const entry = (startsAt?: number) => ({
  runId: 'r',
  answers: [],
  ...(startsAt !== undefined && { startsAt }),
})
const ttl = { minutes: 2 } as const

/** The fields by which maintenance finds a thread that was changed at 1000. */
test.each<[string, Partial<ThreadRecord>, object]>([
  ['has none without a time to live', {}, {}],
  ['expires its time to live after its last change', { ttl }, { expires: 121_000 }],
  ['does not expire while it is busy', { ttl, status: 'busy' }, {}],
  ['expires in an error', { ttl, status: 'error' }, { expires: 121_000 }],
  ['does not expire while a run waits', { ttl, queue: [entry()] }, { queued: 1_000 }],
  ['does not expire again once it was shortened', { ttl, shortenedAt: 1_000 }, {}],
  ['expires again when it was changed since', { ttl, shortenedAt: 999 }, { expires: 121_000 }],
  ['is temporary', { temporary: true }, { temporary: 1_000 }],
  ['has a run that may start at a time', { queue: [entry(5_000)] }, { queued: 5_000 }],
  [
    'has several that may, the first of them',
    { queue: [entry(7_000), entry(5_000), entry(6_000)] },
    { queued: 5_000 },
  ],
  ['has one that may start now among them', { queue: [entry(7_000), entry()] }, { queued: 1_000 }],
])('a thread %s', (_, fields, expected) => {
  const { index } = putThread({ ...newThread('t', null, 1_000), ...fields }) as {
    index: Record<string, number>
  }
  const found = Object.entries(index).filter(([field]) => ['expires', 'queued', 'temporary'].includes(field))
  expect(Object.fromEntries(found)).toEqual(expected)
})
