import { AuditError, rejection } from '../check.ts'

export function claim(holds: boolean, what: string): asserts holds {
  if (!holds) throw new AuditError(what, true, false)
}

/** Compares values deeply. Unlike JSON, it distinguishes `undefined`, bytes, Map and Set. */
export function same(seen: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [show(seen), show(expected)]
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
function show(value: unknown): string {
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
