const DAY_MS = 86_400_000

/** The day that was asked for last, and its text up to the `T`. */
let day = Number.NaN
let date = ''

/** Milliseconds since 1970 as the API answers them. An answer has many of them, mostly of one day: `toISOString` takes several times as long. */
export function isoTime(at: number): string {
  const ms = Math.floor(at)
  const asked = Math.floor(ms / DAY_MS)
  if (asked !== day) {
    date = new Date(ms).toISOString().slice(0, -13)
    day = asked
  }
  const ofDay = ms - asked * DAY_MS
  const seconds = Math.floor(ofDay / 1_000)
  const minutes = Math.floor(seconds / 60)
  return `${date}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${three(ofDay % 1_000)}Z`
}

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`)
const three = (value: number): string => (value < 100 ? `0${two(value)}` : `${value}`)
