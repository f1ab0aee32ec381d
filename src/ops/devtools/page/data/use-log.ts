import { useEffect, useRef, useState } from 'preact/hooks'
import { backoff, pause } from '../../../../core/time.ts'
import type { ThreadDetail } from '../../wire.ts'
import { type Conversation, createConversation } from '../model/conversation.ts'
import { createFrameReader } from '../model/frames.ts'
import { createLog, type Log, type WireEvent } from '../model/log.ts'
import { createSpanTree, type SpanTree } from '../model/spans.ts'
import { ApiError, clock, stream, threadPath } from './api.ts'

export interface LiveLog {
  readonly log: Log
  readonly tree: SpanTree
  readonly conversation: Conversation
  /** Rises when one of them has changed. */
  readonly version: number
  /** Why there is nothing more to come, such as a thread that was deleted. */
  readonly error: ApiError | undefined
}

/** Where a log is read from. A thread that was deleted and made again has another log. */
interface LogStart {
  /** The sequence number before the first event. */
  readonly after: number
  readonly createdAt: number
}

/** What the page keeps of one thread's log. */
const BOUNDS = { events: 20_000, bytes: 48 * 1024 * 1024 }
/** The page is drawn at most this often while events arrive, in milliseconds. */
const DRAW_MS = 100

/** Follows the log of a thread, and goes on where it was after each lost connection. */
export function useLog(
  threadId: string,
  start: LogStart | undefined,
  onEvent: (event: WireEvent) => void,
): LiveLog {
  const [live, setLive] = useState<LiveLog>(() => emptyLog(start?.after ?? 0))
  const told = useRef(onEvent)
  told.current = onEvent
  useEffect(() => {
    if (!start) return
    const { log, tree, conversation } = emptyLog(start.after)
    const stop = new AbortController()
    let drawing: ReturnType<typeof setTimeout> | undefined
    let version = 0
    const draw = (error?: ApiError) => {
      clearTimeout(drawing)
      drawing = undefined
      setLive({ log, tree, conversation, version: ++version, error })
    }
    async function follow(): Promise<void> {
      const read = createFrameReader()
      const openedAt = clock.toServer(Date.now())
      const path = `${threadPath(threadId)}/log?after=${log.last}`
      for await (const chunk of stream(path, stop.signal)) {
        const at = clock.toServer(Date.now())
        const arrival = at === undefined || openedAt === undefined ? undefined : { at, openedAt }
        for (const frame of read(chunk)) {
          const event = log.add(frame, arrival)
          if (!event) continue
          tree.add(event)
          conversation.add(event)
          told.current(event)
        }
        drawing ??= setTimeout(draw, DRAW_MS)
      }
    }
    async function keepFollowing(): Promise<void> {
      for (let failures = 0; !stop.signal.aborted; ) {
        const { last } = log
        const error = await follow().then(
          () => undefined,
          (reason) => reason,
        )
        if (stop.signal.aborted) return
        // What a server refuses it will refuse again.
        if (error instanceof ApiError && error.status >= 400 && error.status < 500) return draw(error)
        failures = log.last > last ? 0 : failures + 1
        await pause(backoff(failures, 250, 5_000), stop.signal)
      }
    }
    draw()
    void keepFollowing()
    return () => {
      stop.abort()
      clearTimeout(drawing)
    }
  }, [threadId, start])
  return live
}

/** The position from which the log is read, chosen once for each thread: the page keeps the newest events. */
export function useStart(thread: ThreadDetail | undefined): LogStart | undefined {
  const start = useRef<LogStart>(undefined)
  if (thread && start.current?.createdAt !== thread.created_at) {
    const after = Math.max(0, thread.log.first_retained - 1, thread.log.head - BOUNDS.events)
    start.current = { after, createdAt: thread.created_at }
  }
  return start.current
}

const emptyLog = (after: number): LiveLog => ({
  log: createLog(BOUNDS, after),
  tree: createSpanTree(),
  conversation: createConversation(),
  version: 0,
  error: undefined,
})
