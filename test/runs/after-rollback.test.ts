import { expect, test } from 'vitest'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { overlay } from '../../src/storage/checkpointer/hooks.ts'
import { FencedError } from '../../src/storage/errors.ts'
import {
  answersTo,
  expire,
  type Instance,
  instance,
  type OnAnswer,
  say,
  textsOf,
  untilStopped,
} from '../kit/conversation.ts'
import { transcript } from '../kit/engine.ts'
import { isTerminal } from '../kit/events.ts'
import { killable, type Place } from '../kit/shared.ts'
import { describeStores } from '../kit/stores.ts'
import { eventually, gate } from '../kit/wait.ts'

/** So long that the instances that are lost take over nothing themselves. The test lets their leases expire. */
const LONG_LEASE_MS = 120_000
const LEASE_MS = 3_000
/** More writes than a run of this graph makes. */
const MOST_WRITES = 24
const PATIENT = { everyMs: 20, timeoutMs: 200_000 }
const WRITES: ReadonlySet<string> = new Set(['commit', 'put', 'putWrites'])

const onAnswer: OnAnswer = (text, signal) => (text === 'hang' ? untilStopped(signal) : undefined)

describeStores('$name', ({ create }) => {
  test('a process that is lost at any write after a rollback loses no message, and brings nothing back that was undone', async () => {
    const open = await create()
    const shared = await open()
    const survivor = instance(await open(), LEASE_MS, onAnswer)
    const ends = await Promise.all(
      Array.from({ length: MOST_WRITES }, (_, n) => loseProcessAt(n, `thread-${n}`, shared, survivor)),
    )
    // The last ones make all their writes, so every write before was the first that was lost.
    expect(ends.at(-1)).toBe('survived')
    expect(ends.filter((end) => end === 'lost').length).toBeGreaterThan(5)
  })

  test('a process that undoes the first run of a thread late deletes nothing that later runs wrote', async () => {
    const open = await create()
    const shared = await open()
    // Processes do not share a memory.
    if (!shared.checkpointer.withFence) return
    const { opened: isLate, open: goOn } = gate()
    const deletions: Promise<void>[] = []
    const late = instance(
      { ...shared, checkpointer: deletingLate(shared.checkpointer, isLate, deletions) },
      LONG_LEASE_MS,
      onAnswer,
    )
    const survivor = instance(await open(), LEASE_MS, onAnswer)
    const { runId } = await say(late, 't', 'hang')
    await eventually(async () => (await textsOf(survivor, 't')).includes('heard hang'), {
      ...PATIENT,
      what: 'The first step of the run that hangs',
    })
    await late.cancel({ threadId: 't', runId, action: 'rollback' })
    await eventually(() => deletions.length > 0, { ...PATIENT, what: 'The rollback' })
    await expire(shared, 't')
    const next = await say(survivor, 't', 'two')
    await survivor.wait({ threadId: 't', runId: next.runId })
    goOn()
    await expect(deletions[0]).rejects.toThrow(FencedError)
    expect(await textsOf(survivor, 't')).toEqual(answersTo('two'))
    await late.close()
    await survivor.close()
  })
})

/** A saver that deletes threads once it may. */
const deletingLate = (inner: Checkpointer, isLate: Promise<void>, deletions: Promise<void>[]): Checkpointer =>
  overlay(inner, (saver) => ({
    deleteThread(threadId) {
      const deletion = isLate.then(() => saver.deleteThread(threadId))
      deletions.push(deletion)
      return deletion
    },
    ...(saver.withFence && {
      withFence: (partition: string, token: number) =>
        deletingLate(saver.withFence!(partition, token), isLate, deletions),
    }),
  }))

/** Rolls a run back, starts another one, and loses the process when it has made `n` writes since. */
async function loseProcessAt(n: number, threadId: string, shared: Place, survivor: Instance) {
  let writes: number | undefined
  let lost: Promise<void> | undefined
  const { place, kill } = killable(shared, (name, moment) => {
    if (writes === undefined || moment === 'after' || !WRITES.has(name)) return
    if (writes === n) {
      kill()
      lost = expire(shared, threadId)
    }
    writes += 1
  })
  const engine = instance(place, LONG_LEASE_MS, onAnswer)
  await say(engine, threadId, 'one')
  await transcript(engine, threadId, 1)
  const undone = await say(engine, threadId, 'hang')
  await eventually(async () => (await textsOf(survivor, threadId)).includes('heard hang'), {
    ...PATIENT,
    what: 'The first step of the run that hangs',
  })
  await engine.cancel({ threadId, runId: undone.runId, action: 'rollback' })
  await transcript(engine, threadId, 2)
  expect(await textsOf(survivor, threadId)).toEqual(answersTo('one'))
  writes = 0
  const last = await say(engine, threadId, 'two').catch(() => undefined)
  await eventually(
    async () => {
      const thread = await survivor.findThread({ threadId })
      return thread?.status === 'idle' && (last === undefined || thread.lastRunId === last.runId)
    },
    { ...PATIENT, what: `The end after ${n} writes` },
  )
  const texts = await textsOf(survivor, threadId)
  if (last === undefined) {
    expect([answersTo('one'), answersTo('one', 'two')], `after ${n} writes`).toContainEqual(texts)
    return 'refused'
  }
  expect(texts, `after ${n} writes`).toEqual(answersTo('one', 'two'))
  const terminal = (await transcript(survivor, threadId, 3)).filter(isTerminal)
  expect(terminal.map(({ params }) => params.data.event)).toEqual(['completed', 'interrupted', 'completed'])
  await lost
  return lost ? 'lost' : 'survived'
}
