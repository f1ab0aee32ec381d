/** The state of the streams with one key. */
export interface SourceState {
  started: boolean
  opened: number
  /** Cancelled by their readers. */
  cancelled: number
  /** Ended by themselves. */
  ended: number
  pulls: number
  aborted: number
  bodyError: string | null
}

/** What a stream sends, in this order. A plan without an end is idle until it is cancelled. */
export interface StreamPlan {
  /** Sent immediately. */
  readonly opening?: string | undefined
  /** Sent one by one after the gate opens. Then the stream ends. */
  readonly gated?: readonly string[] | undefined
  /** Sends this many bytes, then ends. */
  readonly bytes?: number | undefined
  readonly endless?: boolean | undefined
  /** The message of the error that the stream fails with. */
  readonly broken?: string | undefined
}

export interface Source {
  readonly state: SourceState
  readonly gate: Promise<void>
  /** Keeps the request from garbage collection, which would prevent its signal from firing. */
  request?: Request
  release(): SourceState
  stream(plan: StreamPlan): ReadableStream<Uint8Array>
}

export interface Sources {
  of(key: string): Source
  /** Ends every open stream. */
  close(): void
}

export const CHUNK_BYTES = 65_536
const encoder = new TextEncoder()

export function createSources(): Sources {
  const sources = new Map<string, Source>()
  const open = new Set<() => void>()
  return {
    of(key) {
      const source = sources.get(key) ?? createSource(open)
      sources.set(key, source)
      return source
    },
    close() {
      for (const end of open) end()
    },
  }
}

function createSource(open: Set<() => void>): Source {
  const state: SourceState = {
    started: false,
    opened: 0,
    cancelled: 0,
    ended: 0,
    pulls: 0,
    aborted: 0,
    bodyError: null,
  }
  let pass = () => {}
  const gate = new Promise<void>((resolve) => {
    pass = resolve
  })
  return {
    state,
    gate,
    stream: (plan) => streamOf(plan, state, gate, open),
    release() {
      pass()
      return state
    },
  }
}

function streamOf(
  plan: StreamPlan,
  state: SourceState,
  gate: Promise<void>,
  open: Set<() => void>,
): ReadableStream<Uint8Array> {
  const gated = [...(plan.gated ?? [])]
  let left = plan.bytes ?? 0
  let end = () => {}
  state.opened++
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        end = () => {
          if (!open.delete(end)) return
          state.ended++
          controller.close()
        }
        open.add(end)
        if (plan.opening !== undefined) controller.enqueue(encoder.encode(plan.opening))
      },
      async pull(controller) {
        state.pulls++
        if (plan.broken !== undefined) {
          open.delete(end)
          state.ended++
          throw new Error(plan.broken)
        }
        if (plan.endless) return controller.enqueue(new Uint8Array(CHUNK_BYTES))
        if (plan.bytes !== undefined) {
          controller.enqueue(new Uint8Array(Math.min(left, CHUNK_BYTES)))
          left -= CHUNK_BYTES
          if (left <= 0) end()
        }
        if (!plan.gated) return
        await gate
        const next = gated.shift()
        if (!open.has(end)) return
        if (next === undefined) end()
        else controller.enqueue(encoder.encode(next))
      },
      cancel() {
        if (open.delete(end)) state.cancelled++
      },
    },
    { highWaterMark: 0 },
  )
}
