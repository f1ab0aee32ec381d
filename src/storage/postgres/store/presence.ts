/** How long other processes may take to answer before none counts as present, in milliseconds. */
const ANSWER_MS = 1_000
/**
 * How long a process counts as listening if it reports no time, in milliseconds. Earlier versions report
 * none.
 */
const UNTOLD_MS = 30_000

/**
 * `?30000`: listens for this long, and asks which others do. `.30000` answers. `!30000` also answers, from a
 * process that has not notified.
 */
const PRESENCE = /^([?.!])(\d+)$/

export type Presence = ReturnType<typeof createPresence>

/**
 * Tracks which processes listen to the notification channel, so that nothing is sent while none does. Each
 * process reports when it starts to listen, and again with each ping. A process that does not receive its own
 * messages, for example behind a pooler, does not treat silence as absence.
 */
export function createPresence(self: string, lastsMs: number) {
  const others = new Map<string, number>()
  /** When the others were asked. */
  let since = Number.POSITIVE_INFINITY
  let hearsUntil = 0

  function isAlone(): boolean {
    const now = performance.now()
    for (const [name, until] of others) if (until <= now) others.delete(name)
    return others.size === 0 && hearsUntil > now && since + ANSWER_MS <= now
  }

  return {
    isAlone,
    asks: `?${lastsMs}`,
    /** A connection is about to listen and to ask. */
    opened(): void {
      since = Number.POSITIVE_INFINITY
      hearsUntil = 0
    },
    /**
     * Reads the items of a message. Returns the answer, if any, and whether its sender may have skipped
     * notifications until now.
     */
    heard(from: string, items: readonly string[]): { readonly answer?: string; readonly missed: boolean } {
      const [, kind, told] = PRESENCE.exec(items[0] ?? '') ?? []
      const until = performance.now() + (told === undefined ? UNTOLD_MS : Number(told))
      if (from === self) {
        if (kind !== '?') return { missed: false }
        since = Math.min(since, performance.now())
        hearsUntil = until
        return { missed: false }
      }
      const wasAlone = isAlone()
      const isNew = !others.has(from)
      others.set(from, until)
      const answer = !isNew ? '' : wasAlone ? `!${lastsMs}` : kind === '?' ? `.${lastsMs}` : ''
      return { ...(answer && { answer }), missed: kind === '!' }
    },
  }
}
