import { afterEach, expect, test, vi } from 'vitest'
import {
  answersTo,
  expire,
  type Instance,
  instance,
  say,
  textsOf,
  untilStopped,
} from '../kit/conversation.ts'
import { transcript } from '../kit/engine.ts'
import { killable } from '../kit/shared.ts'
import { describeStores } from '../kit/stores.ts'
import { eventually } from '../kit/wait.ts'

/** So long that no lease ends by a jump of the clock, which is the store's own in one process. */
const LONG_LEASE_MS = 3_600_000
/** The survivor looks for lost runs every second. */
const LEASE_MS = 3_000
const SKEWS_MS = [100, -100, 1_000, -1_000, 10_000, -10_000]

/** What the clock of the process at work is ahead, in milliseconds. */
let ahead = 0
const realNow = Date.now
vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ahead)
afterEach(() => {
  ahead = 0
})

/** What the second steps of runs do to the clock, or wait for. */
const onAnswer = (text: string, signal: AbortSignal) => {
  const [what, ms] = text.split(' ')
  if (what === 'jump') ahead += Number(ms)
  else if (what === 'hang') return untilStopped(signal)
}

describeStores('$name', ({ create }) => {
  test('no turn is lost between instances whose clocks differ, or in a run in which the clock is set back', async () => {
    const open = await create()
    const [a, b] = [
      instance(await open(), LONG_LEASE_MS, onAnswer),
      instance(await open(), LONG_LEASE_MS, onAnswer),
    ]
    for (const skew of SKEWS_MS) {
      const threadId = `thread ${skew}`
      const said: string[] = []
      const turn = async (engine: Instance, clock: number, text: string) => {
        ahead = clock
        await say(engine, threadId, text)
        said.push(text)
        await transcript(engine, threadId, said.length)
        expect(await textsOf(engine, threadId), `${text}, ${skew} ms`).toEqual(answersTo(...said))
      }
      await turn(a, 0, 'one')
      await turn(b, skew, 'two')
      await turn(a, 0, 'three')
      await turn(b, skew, 'jump -2000')
      await turn(a, 0, 'five')
      await turn(b, skew, 'jump 2000')
      await turn(a, 0, 'seven')
      // The history goes backwards, step by step.
      const thread = (await a.findThread({ threadId }))!
      const lengths: number[] = []
      for await (const { values } of a.readHistory(thread, {}, {}))
        lengths.push((values.messages as [])?.length ?? 0)
      expect(lengths).toEqual([...lengths].sort((x, y) => y - x))
      expect(lengths.length).toBe(said.length * 4)
    }
  })

  test('what is rolled back by one clock stays undone by another one, and its history begins where it was restored', async () => {
    const open = await create()
    const [a, b] = [
      instance(await open(), LONG_LEASE_MS, onAnswer),
      instance(await open(), LONG_LEASE_MS, onAnswer),
    ]
    for (const skew of SKEWS_MS) {
      const threadId = `thread ${skew}`
      await say(a, threadId, 'one')
      await transcript(a, threadId, 1)
      ahead = skew
      const { runId } = await say(b, threadId, 'hang')
      await eventually(async () => (await textsOf(b, threadId)).includes('heard hang'))
      await b.cancel({ threadId, runId, action: 'rollback' })
      await transcript(b, threadId, 2)
      ahead = 0
      expect(await textsOf(a, threadId)).toEqual(answersTo('one'))
      const restored = (await a.findThread({ threadId }))!
      const counts: number[] = []
      for await (const { values } of a.readHistory(restored, {}, {}))
        counts.push((values.messages as [])?.length ?? 0)
      expect(counts).toEqual([3, 2, 1, 0])
      await say(a, threadId, 'two')
      await transcript(a, threadId, 3)
      expect(await textsOf(b, threadId)).toEqual(answersTo('one', 'two'))
    }
  })

  test('a run that is handed on to a process with another clock goes on from its last step', async () => {
    const open = await create()
    const shared = await open()
    const survivor = instance(await open(), LEASE_MS, () => {})
    for (const skew of SKEWS_MS) {
      const threadId = `thread ${skew}`
      const { place, kill } = killable(shared)
      const lost = instance(place, LONG_LEASE_MS, onAnswer)
      ahead = skew
      await say(lost, threadId, 'one')
      await transcript(lost, threadId, 1)
      await say(lost, threadId, 'hang')
      await eventually(async () => (await textsOf(survivor, threadId)).includes('heard hang'))
      kill()
      ahead = 0
      await expire(shared, threadId)
      await transcript(survivor, threadId, 2)
      expect(await textsOf(survivor, threadId)).toEqual(answersTo('one', 'hang'))
      await say(survivor, threadId, 'three')
      await transcript(survivor, threadId, 3)
      expect(await textsOf(survivor, threadId)).toEqual(answersTo('one', 'hang', 'three'))
    }
  })
})
