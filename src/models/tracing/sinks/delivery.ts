import type { OptionTable } from '../../../core/options.ts'
import { report } from '../errors.ts'
import type { TracedRun } from '../traced-run.ts'
import { applyPolicy, type Base64Policy } from './media.ts'
import { toPlain } from './plain.ts'
import type { Sink } from './sink.ts'

export interface DeliveryOptions {
  readonly sinks?: readonly Sink[] | undefined
  /** Returns the run that sinks receive. It gets its own copy. If it throws, nothing is sent. */
  readonly redact?: ((run: TracedRun) => TracedRun | Promise<TracedRun>) | undefined
  /** How to treat inline media, after `redact`. Default: each is kept up to 1 MiB. */
  readonly base64?: Base64Policy | undefined
  /** Called with errors of a sink, of `redact` and of tracing itself. Default `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

export const DELIVERY_OPTIONS: OptionTable<DeliveryOptions> = {
  sinks: 'list',
  redact: 'function',
  base64: 'any',
  onError: 'function',
}

/** Delivers one run to its sinks. The caller never receives its errors and never waits for it. */
export interface Delivery {
  send(kind: 'create' | 'update', run: TracedRun): void
  /** Resolves when the sink at this index has responded to everything sent so far, or failed. */
  after(sink: number): Promise<void>
}

/** How long delivery waits for a sink's response, in milliseconds. */
const SINK_TIMEOUT_MS = 30_000
const MAX_MEDIA_BYTES = 1024 * 1024
const READY = Promise.resolve()

export function createDelivery(options: DeliveryOptions, parent: Delivery | undefined): Delivery {
  const { sinks = [], redact, base64 = MAX_MEDIA_BYTES, onError } = options
  const chains = sinks.map((_, at) => parent?.after(at) ?? READY)

  async function prepare(run: TracedRun): Promise<TracedRun> {
    const seen = redact ? toPlain(await redact(run)) : run
    await applyPolicy(seen, base64)
    return seen
  }

  return {
    send(kind, run) {
      if (sinks.length === 0) return
      const onFailure = (error: unknown) => report(onError, error)
      const prepared = (async () => prepare(toPlain(run)))()
      prepared.catch(onFailure)
      sinks.forEach((sink, at) => {
        // Each sink gets its own copy, because it may change it.
        const copy = prepared.then(
          (seen) => (at === 0 ? seen : toPlain(seen)),
          () => undefined,
        )
        chains[at] = Promise.all([copy, chains[at]])
          .then(([seen]) => seen && withTimeout(SINK_TIMEOUT_MS, () => sink[kind](seen)))
          .then(() => {}, onFailure)
      })
    },
    after: (sink) => chains[sink] ?? READY,
  }
}

async function withTimeout(ms: number, work: () => unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`A sink did not respond within ${ms / 1000} s.`)), ms)
  })
  try {
    await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}
