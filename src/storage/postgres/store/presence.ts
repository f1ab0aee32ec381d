/** How long others have to answer before nobody is taken to be there, in milliseconds. */
const ANSWER_MS = 1_000
/** How long one that tells no time is taken to listen: those of earlier versions tell none. */
const UNTOLD_MS = 30_000

/** `?30000`: listens for so long, and asks who else does. `.30000` answers; `!30000` too, from one that did not notify. */
const PRESENCE = /^([?.!])(\d+)$/

export type Presence = ReturnType<typeof createPresence>

/**
 * Who else listens to the channel of notifications, so that nothing is sent while nobody does. Each tells it
 * when it begins to listen, and again with each ping; one that cannot hear itself, as behind a pooler, does
 * not take silence for nobody.
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
    /** A connection is about to listen, and to ask. */
    opened(): void {
      since = Number.POSITIVE_INFINITY
      hearsUntil = 0
    },
    /**
     * Takes the items of a message. Gives what to answer, if anything, and whether its sender may not have
     * notified of all that it did until now.
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
