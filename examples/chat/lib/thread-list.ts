import type { ThreadEntry } from 'agentwire/react'

/** A thread's name. */
export const nameOf = (entry: ThreadEntry | null | undefined): string => entry?.title || 'New chat'

export interface Day {
  readonly name: string
  readonly entries: readonly ThreadEntry[]
}

/** Entries that are newest first, by day. */
export function byDay(entries: readonly ThreadEntry[], now = new Date()): readonly Day[] {
  const days = new Map<string, ThreadEntry[]>()
  for (const entry of entries) {
    const name = dayName(entry.updatedAt, now)
    const day = days.get(name)
    if (day) day.push(entry)
    else days.set(name, [entry])
  }
  return [...days].map(([name, entries]) => ({ name, entries }))
}

const DAY_MS = 86_400_000

function dayName(date: Date, now: Date): string {
  // Days differ in length when clocks change, but noon is always on the same date.
  const noon = (at: Date) => new Date(at.getFullYear(), at.getMonth(), at.getDate(), 12).getTime()
  const daysAgo = Math.round((noon(now) - noon(date)) / DAY_MS)
  if (daysAgo <= 0) return 'Today'
  if (daysAgo === 1) return 'Yesterday'
  const format: Intl.DateTimeFormatOptions =
    daysAgo < 7 ? { weekday: 'long' } : { day: 'numeric', month: 'long', year: 'numeric' }
  return new Intl.DateTimeFormat('en', format).format(date)
}

/** “5m ago”, “3h ago”, or for an earlier day, which is named above, the time of day. */
export function timeName(date: Date, now = new Date()): string {
  const minutes = Math.floor((now.getTime() - date.getTime()) / 60_000)
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes}m ago`
  if (dayName(date, now) === 'Today') return `${Math.floor(minutes / 60)}h ago`
  return new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(date)
}
