import { createFrameReader } from '../model/frames.ts'
import type { Log, LogEntry, WireEvent } from '../model/log.ts'
import { stream, threadPath } from './api.ts'

/** A part of a thread's log, by the sequence numbers of its first and its last event. */
export interface LogRange {
  readonly threadId: string
  readonly from: number
  readonly to: number
}

/** The events of a range. Undefined if the page has dropped some of them. */
export function entriesIn({ entries }: Log, { from, to }: LogRange): readonly LogEntry[] | undefined {
  if ((entries[0]?.seq ?? Number.POSITIVE_INFINITY) > from) return undefined
  return entries.filter(({ seq, method }) => seq >= from && seq <= to && method !== 'gap')
}

/** The events of a range, from the server, except those that it has also dropped. */
export async function fetchEvents({ threadId, from, to }: LogRange): Promise<readonly WireEvent[]> {
  const read = createFrameReader()
  const events: WireEvent[] = []
  const path = `${threadPath(threadId)}/log?after=${from - 1}`
  for await (const chunk of stream(path, new AbortController().signal))
    for (const { data } of read(chunk)) {
      const event = JSON.parse(data) as WireEvent | { readonly type: 'gap'; readonly first_retained: number }
      if (event.type === 'gap') {
        if (event.first_retained > to) return events
        continue
      }
      if (event.seq <= to) events.push(event)
      if (event.seq >= to) return events
    }
  return events
}
