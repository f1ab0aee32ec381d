import type { OptionTable } from '../../../core/options.ts'
import { isRecord } from '../../../messages/record.ts'
import { decodeBase64, encodeBase64 } from '../../formats/reading/base64.ts'
import { report } from '../errors.ts'
import type { TracedRun } from '../traced-run.ts'

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

/**
 * A deep copy as plain JSON. Bytes become base64, values without a JSON form become text or are left out, and
 * a circular reference becomes `[circular]`.
 */
function toPlain<Value>(value: Value): Value {
  return copy(value, []) as Value
}

function copy(value: unknown, above: unknown[]): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      return String(value)
    case 'object':
      break
    default:
      return undefined
  }
  if (value === null) return null
  if (value instanceof Uint8Array) return encodeBase64(value)
  if (value instanceof ArrayBuffer) return encodeBase64(new Uint8Array(value))
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (above.includes(value)) return '[circular]'
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    const json = attempt(() => (value as { toJSON(): unknown }).toJSON())
    return json === value ? String(json) : copy(json, [...above, value])
  }
  above.push(value)
  let copied: unknown
  if (Array.isArray(value)) copied = value.map((item) => copy(item, above) ?? null)
  else if (value instanceof Map) copied = copy(Object.fromEntries(value), above)
  else if (value instanceof Set) copied = copy([...value], above)
  else {
    const fields: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      const field = copy(
        attempt(() => (value as Record<string, unknown>)[key]),
        above,
      )
      if (field !== undefined && key !== '__proto__') fields[key] = field
    }
    copied = fields
  }
  above.pop()
  return copied
}

/** The result of a getter or `toJSON`, or the text of the error that it throws. */
function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return `[${error instanceof Error ? error.message : String(error)}]`
  }
}

/**
 * How to treat base64 in a trace: `keep` keeps it, `hash` replaces it with `sha256:<hex>;bytes=<size>`, and a
 * number is the size in bytes above which it is hashed.
 */
export type Base64Policy = 'keep' | 'hash' | number

/** The fields that contain media in provider and platform formats. */
const FIELDS = new Set(['base64', 'data', 'file_data', 'b64_json', 'image_data', 'result', 'bytes'])
const MARK = ';base64,'
/** Shorter text is not media. */
const MIN_MEDIA_LENGTH = 32

/** Applies the policy to a value and changes it in place. */
async function applyPolicy(value: unknown, policy: Base64Policy): Promise<void> {
  if (policy === 'keep') return
  const limit = policy === 'hash' ? 0 : policy
  const work: Promise<void>[] = []
  visit(value, (holder, key, text) => {
    const at = text.startsWith('data:') ? text.indexOf(MARK) : -1
    const [head, base64] = at > 0 ? [text.slice(0, at + 1), text.slice(at + MARK.length)] : ['', text]
    if (at < 0 && !(FIELDS.has(key) && isBase64(base64))) return
    const size = sizeOf(base64)
    if (size > limit) work.push(stubOf(base64, size).then((stub) => void (holder[key] = head + stub)))
  })
  await Promise.all(work)
}

type Holder = Record<string, unknown>

function visit(value: unknown, onText: (holder: Holder, key: string, text: string) => void): void {
  if (!Array.isArray(value) && !isRecord(value)) return
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'string') visit(item, onText)
    else if (item.length >= MIN_MEDIA_LENGTH) onText(value as Holder, key, item)
  }
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[\w+/-]+={0,2}$/.test(text)

const sizeOf = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)

/** The hash of the bytes and their size, or the size alone on pages without TLS (no `crypto.subtle`). */
async function stubOf(base64: string, size: number): Promise<string> {
  const { subtle } = crypto as Partial<Crypto>
  if (!subtle) return `removed;bytes=${size}`
  const digest = await subtle.digest('SHA-256', bytesOf(base64))
  let hex = ''
  for (const byte of new Uint8Array(digest)) hex += byte.toString(16).padStart(2, '0')
  return `sha256:${hex};bytes=${size}`
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const standard = base64.replaceAll('-', '+').replaceAll('_', '/')
  try {
    return decodeBase64(standard)
  } catch {
    // The text is not base64, so the text itself is hashed.
    return new TextEncoder().encode(base64)
  }
}

/**
 * Receives runs. `update` gets the complete run, after the sink has responded to the run's `create`. `create`
 * is called after the sink has responded to the parent's. Errors and rejections go to `onError` and never
 * reach the model's caller.
 */
export interface Sink {
  create(run: TracedRun): unknown
  update(run: TracedRun): unknown
}

/** Keeps the newest state of each run, ordered by start, for tests and tools. It grows until cleared. */
export interface MemorySink extends Sink {
  readonly runs: readonly TracedRun[]
  clear(): void
}

export function memorySink(): MemorySink {
  const runs = new Map<string, TracedRun>()
  const keep = (run: TracedRun) => void runs.set(run.id, run)
  return {
    create: keep,
    update: keep,
    get runs() {
      return [...runs.values()].sort((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1))
    },
    clear: () => runs.clear(),
  }
}
