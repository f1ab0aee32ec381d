import { report } from '../errors.ts'
import type { TracedRun } from '../traced-run.ts'
import { applyPolicy, type Base64Policy } from './media.ts'
import { toPlain } from './plain.ts'
import type { Sink } from './sink.ts'

export interface DeliveryOptions {
  readonly sinks?: readonly Sink[] | undefined
  /** Gives the run that sinks may see. Gets a copy of its own. Where it throws, nothing is sent. */
  readonly redact?: ((run: TracedRun) => TracedRun | Promise<TracedRun>) | undefined
  /** Default: kept up to 1 MiB each. Carried out after `redact`. */
  readonly base64?: Base64Policy | undefined
  /** Told of what fails in a sink, in `redact` or in tracing itself. Default `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Brings one run to its sinks. Nothing it does reaches the caller: no error, no wait. */
export interface Delivery {
  send(kind: 'create' | 'update', run: TracedRun): void
  /** Settles when the sink of this place has answered all that was sent so far, or has failed to. */
  after(sink: number): Promise<void>
}

/** A sink that does not answer for so long is not waited for any longer. */
const PATIENCE_MS = 30_000
const KEPT_BYTES = 1024 * 1024
const READY = Promise.resolve()

export function createDelivery(options: DeliveryOptions, parent: Delivery | undefined): Delivery {
  const { sinks = [], redact, base64 = KEPT_BYTES, onError } = options
  const chains = sinks.map((_, at) => parent?.after(at) ?? READY)

  async function prepare(run: TracedRun): Promise<TracedRun> {
    const seen = redact ? toPlain(await redact(run)) : run
    await applyPolicy(seen, base64)
    return seen
  }

  return {
    send(kind, run) {
      if (sinks.length === 0) return
      const told = (error: unknown) => report(onError, error)
      const prepared = guarded(() => prepare(toPlain(run)))
      prepared.catch(told)
      sinks.forEach((sink, at) => {
        // One copy each: sinks may change what they get.
        const copy = prepared.then(
          (seen) => (at === 0 ? seen : toPlain(seen)),
          () => undefined,
        )
        chains[at] = Promise.all([copy, chains[at]])
          .then(([seen]) => seen && within(PATIENCE_MS, () => sink[kind](seen)))
          .then(() => {}, told)
      })
    },
    after: (sink) => chains[sink] ?? READY,
  }
}

async function guarded<Value>(work: () => Promise<Value>): Promise<Value> {
  return work()
}

async function within(ms: number, work: () => unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`A sink has not answered within ${ms / 1000} s.`)), ms)
  })
  try {
    await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}
