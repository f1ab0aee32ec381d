import { RunError } from '../../../engine/index.ts'

/** When a cron is due. */
export interface Schedule {
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  readonly schedule: string
  /** A time zone name, such as `Europe/Berlin`. Null means UTC. */
  readonly timezone: string | null
  /** The last time at which it may be due, in milliseconds since 1970. */
  readonly endTime: number | null
}

const MAX_LENGTH = 256
const FIVE_FIELDS = /^\S+(\s+\S+){4}$/

/**
 * The next times after `after` at which a schedule is due, in milliseconds since 1970: at most `most`, and
 * none if it will never be due. Throws `RunError` `invalid_argument` for an invalid schedule or time zone.
 */
export async function dueDates(
  { schedule, timezone, endTime }: Schedule,
  after: number,
  most = 1,
): Promise<readonly number[]> {
  if (schedule.length > MAX_LENGTH || !FIVE_FIELDS.test(schedule.trim()))
    throw refused('the number of fields')
  assertZone(timezone)
  const { Cron } = await import('croner')
  try {
    // A time of day that daylight saving time skips is due at the end of the gap. One that it repeats is due
    // once.
    const cron = new Cron(schedule, {
      mode: '5-part',
      timezone: timezone ?? 'UTC',
      fixedTimeRule: 'no-wildcard',
    })
    const dates = cron.nextRuns(most, new Date(after)).map((date) => date.getTime())
    return dates.filter((date) => date <= (endTime ?? date))
  } catch (error) {
    throw refused((error as Error).message.replace(/^Cron\w+: /, '').slice(0, 200), error)
  }
}

/** Throws `RunError` `invalid_argument` for a schedule with which a new cron would never run. */
export async function assertEverDue(schedule: Schedule, now: number): Promise<void> {
  if ((await dueDates({ ...schedule, endTime: null }, now)).length > 0) return
  throw new RunError('invalid_argument', `schedule: no date ever matches ${schedule.schedule}.`)
}

/** Offsets are rejected on every Node version, because some versions accept them as time zones. */
function assertZone(timezone: string | null): void {
  if (timezone === null) return
  try {
    if (!/^[A-Za-z]/.test(timezone)) throw new RangeError('not a name')
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch (cause) {
    const message = 'timezone: expected an IANA time zone name, such as Europe/Berlin.'
    throw new RunError('invalid_argument', message, { cause })
  }
}

function refused(why: string, cause?: unknown): RunError {
  const message = `schedule: expected five fields (minute, hour, day of the month, month, day of the week), such as 30 9 * * MON-FRI. Invalid: ${why}.`
  return new RunError('invalid_argument', message, { cause })
}
