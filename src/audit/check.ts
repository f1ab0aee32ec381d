import { AgentwireError } from '../core/errors.ts'

/** An audit failed. The message says what was checked, what was expected, and what was found. */
export class AuditError extends AgentwireError {
  static override readonly brand = 'AuditError'
  readonly expected: unknown
  readonly seen: unknown

  constructor(what: string, expected: unknown, seen: unknown, options?: { readonly cause?: unknown }) {
    super('audit_failed', `${what}: expected ${show(expected)}, saw ${show(seen)}`, options)
    this.expected = expected
    this.seen = seen
  }
}

const DEADLINE_MS = 5_000
const POLL_MS = 10

/** Compares values as JSON. */
export function equal(what: string, seen: unknown, expected: unknown): void {
  if (JSON.stringify(seen) !== JSON.stringify(expected)) throw new AuditError(what, expected, seen)
}

export function hold(what: string, holds: boolean, expected: string, seen: unknown): asserts holds {
  if (!holds) throw new AuditError(what, expected, seen)
}

/** The value of the promise. Throws `AuditError` if it does not settle within `ms`. */
export async function within<T>(what: string, promise: Promise<T>, ms = DEADLINE_MS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new AuditError(what, `an end within ${ms} ms`, 'none')), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Calls `look` until `holds` accepts its value, and returns that value. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
  ms = DEADLINE_MS,
): Promise<T> {
  const end = Date.now() + ms
  for (;;) {
    const seen = await look()
    if (holds(seen)) return seen
    if (Date.now() > end) throw new AuditError(what, `it within ${ms} ms`, seen)
    await pause()
  }
}

/** Calls `look` until it returns the same value ten times in a row, and returns that value. */
export async function settled(what: string, look: () => Promise<number>): Promise<number> {
  const TIMES = 10
  let last = Number.NaN
  let same = 0
  return eventually(what, look, (seen) => {
    same = seen === last ? same + 1 : 0
    last = seen
    return same >= TIMES
  })
}

export async function rejection(what: string, promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await within(what, promise)
  } catch (error) {
    if (error instanceof AuditError) throw error
    return error
  }
  throw new AuditError(what, 'an error', value)
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, POLL_MS)
  })
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}

/** One check: `for (const audit of audits) test(audit.name, audit.fn)`. */
export interface Audit {
  /** Stable, such as `adapter.abort.idle`. */
  readonly id: string
  readonly name: string
  /** The specification or issue that requires it. */
  readonly source?: string | undefined
  /** Rejects with `AuditError` if the check fails. */
  readonly fn: () => Promise<void>
}

/** One requirement, checked in a context. */
export interface Rule<Context> {
  readonly id: string
  readonly name: string
  readonly check: (context: Context) => Promise<void>
}

/** The checks of a file's rules, by rule id. */
export type Checks<Id extends string, Context> = Readonly<Record<Id, Rule<Context>['check']>>

/** The rules of a file, from their names and their checks. */
export const rulesOf = <Id extends string, Context>(
  names: Readonly<Record<Id, string>>,
  checks: Checks<Id, Context>,
): readonly Rule<Context>[] =>
  (Object.keys(names) as Id[]).map((id) => ({ id, name: names[id], check: checks[id] }))

export const rfc = (number: number, section: string): string =>
  `https://www.rfc-editor.org/rfc/rfc${number}#section-${section}`

/** An issue or discussion, by its path on GitHub, such as `honojs/node-server/issues/246`. */
export const github = (path: string): string => `https://github.com/${path}`

/** The HTML standard on event streams. */
export const sse = (section?: string): string =>
  `https://html.spec.whatwg.org/multipage/server-sent-events.html${section ? `#${section}` : ''}`

export const CSRF =
  'https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html'

export function claim(holds: boolean, what: string): asserts holds {
  if (!holds) throw new AuditError(what, true, false)
}

/** Compares values deeply. Unlike JSON, it distinguishes `undefined`, bytes, Map and Set. */
export function same(seen: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [spelled(seen), spelled(expected)]
  if (found !== wanted) throw new AuditError(what, cut(wanted), cut(found))
}

/** Checks that `work` rejects with an error of this name. */
export async function refused(work: Promise<unknown>, errorName: string, what: string): Promise<void> {
  same(nameOf(await rejection(what, work)), errorName, what)
}

/** `[undefined, value]` or `[error]`. */
export async function outcome<T>(work: Promise<T>): Promise<[error: unknown, value?: T]> {
  try {
    return [undefined, await work]
  } catch (error) {
    return [error ?? new Error('rejected with nothing')]
  }
}

export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : String(error)
}

function cut(text: string): string {
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text
}

/** JSON with sorted keys that also shows what JSON would lose. */
function spelled(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (inner === undefined) return '<undefined>'
    if (typeof inner === 'bigint' || typeof inner === 'function' || typeof inner === 'symbol') {
      return String(inner)
    }
    if (inner instanceof Uint8Array) return `<bytes ${[...inner].join(' ')}>`
    if (inner instanceof Map) return { '<map>': [...inner] }
    if (inner instanceof Set) return { '<set>': [...inner] }
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
