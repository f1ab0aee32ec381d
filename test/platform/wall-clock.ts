const MINUTE = 60_000

/** What the clocks of a zone show, and nothing of the library that is tested. */
function wallClock(zone: string) {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  // Schedules of a zone ask about the same minutes, each of them several times.
  const known = new Map<number, { readonly day: number; readonly ofDay: number }>()
  return (instant: number) => {
    const before = known.get(instant)
    if (before) return before
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
    const shown = { day: parts.get('day')!, ofDay: parts.get('hour')! * 60 + parts.get('minute')! }
    known.set(instant, shown)
    return shown
  }
}

const clocks = new Map<string, ReturnType<typeof wallClock>>()

function clockOf(zone: string): ReturnType<typeof wallClock> {
  const clock = clocks.get(zone) ?? wallClock(zone)
  clocks.set(zone, clock)
  return clock
}

const values = (field: string, end: number): ReadonlySet<number> =>
  new Set(
    field.split(',').flatMap((part) => {
      const [range = '', step = '1'] = part.split('/')
      const [from = 0, to = from] = range === '*' ? [0, end] : range.split('-').map(Number)
      return Array.from({ length: to - from + 1 }, (_, i) => from + i).filter(
        (n) => (n - from) % Number(step) === 0,
      )
    }),
  )

/**
 * When `minute hour * * *` is due from `from` until `to`, minute by minute: an interval whenever the clock shows it, a time of the day
 * the first time that the clock shows it, or at the end of the gap in which the clock does not.
 */
export function dueByTheClock(schedule: string, zone: string, from: number, to: number): number[] {
  const [minuteField = '', hourField = ''] = schedule.split(' ')
  const isInterval = /[*/]/.test(minuteField + hourField)
  const [minutes, hours] = [values(minuteField, 59), values(hourField, 23)]
  const shows = clockOf(zone)
  const isMeant = (ofDay: number) => hours.has(Math.floor(ofDay / 60)) && minutes.has(ofDay % 60)
  const shown = new Set<string>()
  const due: number[] = []
  for (let at = from - 24 * 60 * MINUTE; at <= to; at += MINUTE) {
    const { day, ofDay } = shows(at)
    const before = shows(at - MINUTE).ofDay
    const name = `${day} ${ofDay}`
    const skipped = Array.from({ length: Math.max(0, ofDay - before - 1) }, (_, i) => before + 1 + i)
    const isDue = isInterval ? isMeant(ofDay) : (isMeant(ofDay) && !shown.has(name)) || skipped.some(isMeant)
    shown.add(name)
    if (isDue && at > from) due.push(at)
  }
  return due
}
