import { expect, test } from 'vitest'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import {
  answersTo,
  expire,
  instance,
  type OnAnswer,
  say,
  textsOf,
  untilStopped,
} from '../kit/conversation.ts'
import { transcript } from '../kit/engine.ts'
import { killable, type Place, sharedMemory } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

const LONG_LEASE_MS = 120_000
const onAnswer: OnAnswer = (text, signal) => (text === 'hang' ? untilStopped(signal) : undefined)

/** Checkpoints as the first versions saved them, which do not name the run that made them. */
function nameless({ store, checkpointer }: Place): Place {
  const getTuple: Checkpointer['getTuple'] = async (config) => {
    const tuple = await checkpointer.getTuple(config)
    if (!tuple) return undefined
    const { run_id: _, ...metadata } = (tuple.metadata ?? {}) as unknown as Record<string, unknown>
    return { ...tuple, metadata: metadata as never }
  }
  const unfenced = { withFence: undefined as never, withSerde: undefined as never }
  return { store, checkpointer: { ...checkpointer, ...unfenced, getTuple } }
}

const SAVED = { 'name their run': (place: Place) => place, 'do not name their run': nameless }
const BEFORE = { 'a turn': false, 'a turn and a rollback': true }
const CASES = Object.keys(BEFORE).flatMap((before) => Object.keys(SAVED).map((how) => ({ before, how })))

test.each(CASES)(
  'after $before, with checkpoints that $how, a run whose process is lost is continued from its own checkpoint, and begins again without one',
  async ({ before, how }) => {
    const saved = SAVED[how as keyof typeof SAVED]
    await Promise.all(
      [0, 1, 2, 3].map((most) => loseAfter(most, saved, BEFORE[before as keyof typeof BEFORE])),
    )
  },
)

/** Loses the process of a thread's last run when it has saved so many checkpoints. */
async function loseAfter(most: number, saved: (place: Place) => Place, isUndone: boolean): Promise<void> {
  const shared = sharedMemory()
  let puts = 0
  let isLast = false
  const { place, kill } = killable(shared(), (name, moment) => {
    if (isLast && name === 'put' && moment === 'before' && puts++ === most) kill()
  })
  const engine = instance(saved(place), LONG_LEASE_MS, onAnswer)
  await say(engine, 't', 'one')
  await transcript(engine, 't')
  if (isUndone) {
    const { runId } = await say(engine, 't', 'hang')
    await eventually(async () => (await textsOf(engine, 't')).includes('heard hang'))
    await engine.cancel({ threadId: 't', runId, action: 'rollback' })
    await transcript(engine, 't', 2)
  }
  isLast = true
  const { runId } = await say(engine, 't', 'two')
  await eventually(() => puts > most)
  const survivor = instance(saved(shared()), LONG_LEASE_MS, onAnswer)
  await expire(shared(), 't')
  expect(await survivor.wait({ threadId: 't', runId })).toMatchObject({ status: 'success' })
  expect(await textsOf(survivor, 't'), `after ${most} checkpoints`).toEqual(answersTo('one', 'two'))
  await survivor.close()
}
