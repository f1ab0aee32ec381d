import { describe, expect, test } from 'vitest'
import { BACKENDS } from '../../kit/backends.ts'
import { DATABASES } from '../../kit/databases.ts'
import { eventually } from '../../kit/wait.ts'
import { dueByTheClock } from '../wall-clock.ts'
import { addCron, type Clock, startInstance, withClock } from './servers.ts'

const MINUTE = 60_000
const BERLIN = 'Europe/Berlin'
const NEW_YORK = 'America/New_York'

/** Three hours around each change of the clocks. */
const CHANGES = [
  { zone: BERLIN, season: 'spring', from: '2027-03-27T23:40:00Z' },
  { zone: BERLIN, season: 'autumn', from: '2027-10-30T23:40:00Z' },
  { zone: NEW_YORK, season: 'spring', from: '2027-03-14T05:40:00Z' },
  { zone: NEW_YORK, season: 'autumn', from: '2027-11-07T04:40:00Z' },
] as const
const STEPS = 6

/** Fifty for each zone: intervals, times of the day, lists, ranges and steps. */
const HOURS = ['*', '1', '2', '3', '1-3', '0,2', '2,14', '*/2', '1-4/2', '0-23']
const MINUTES = ['0', '30', '0,30', '*/30', '0-30/30']
const SCHEDULES = [BERLIN, NEW_YORK].flatMap((timezone) =>
  HOURS.flatMap((hour) => MINUTES.map((minute) => ({ timezone, schedule: `${minute} ${hour} * * *` }))),
)

describe.each(Object.entries(DATABASES))('three instances over %s', (name, create) => {
  // Each store has a change of its own.
  const changes = [CHANGES[['memory', ...BACKENDS.map(({ name }) => name)].indexOf(name)]!]
  test.each(changes)(
    'start each of 100 crons once per date over the $season change in $zone',
    {
      timeout: 240_000,
    },
    async ({ from }) => {
      const open = await create()
      const clock: Clock = { ahead: 0 }
      const places = [await open(), await open(), await open()]
      const first = withClock(places[0]!.store, clock)
      const start = Date.parse(from)
      const moveTo = (time: number) => {
        clock.ahead = time - Date.now()
      }
      moveTo(start)
      const crons = await Promise.all(SCHEDULES.map((schedule) => addCron(first, schedule)))
      const instances = places.map((place) => startInstance(place, clock))
      const expected = crons.flatMap(({ cronId, schedule, timezone }) =>
        dueByTheClock(schedule, timezone!, start, start + STEPS * 30 * MINUTE).map(
          (due) => `${cronId} ${due}`,
        ),
      )
      const told = () => instances.flatMap(({ events }) => events.filter(({ type }) => type === 'cron.due'))
      const seen = () =>
        instances.flatMap(({ runs }) => runs.map(({ cronId, due }) => `${cronId} ${due}`)).sort()
      // The lists are long, and a look at their length is repeated.
      const started = () => instances.reduce((sum, { runs }) => sum + runs.length, 0)
      for (let step = 1; step <= STEPS; step++) {
        const now = start + step * 30 * MINUTE
        moveTo(now)
        for (const { crons } of instances) crons.wake()
        const until = expected.filter((one) => Number(one.split(' ')[1]) <= now).length
        await eventually(() => started() >= until)
        // The date is noted, and the next one is known.
        await eventually(() => told().length >= until)
      }
      for (const { crons } of instances) crons.wake()
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(seen()).toEqual(expected.sort())
      expect(told()).toHaveLength(expected.length)
      expect(told().every((event) => event.type === 'cron.due' && event.missed === 0)).toBe(true)
      expect(instances.flatMap(({ errors }) => errors)).toEqual([])
      expect(expected.length).toBeGreaterThan(150)
    },
  )
})
