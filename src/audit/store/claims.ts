export function claim(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message)
}

export function same(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [show(actual), show(expected)]
  claim(found === wanted, `${what}: expected ${cut(wanted)}, found ${cut(found)}`)
}

/** Resolves where `work` rejects with an error of this name. */
export async function refused(work: Promise<unknown>, errorName: string, what: string): Promise<void> {
  const [error] = await settled(work)
  claim(error !== undefined, `${what}: expected ${errorName}, but it was accepted`)
  same(nameOf(error), errorName, what)
}

/** Waits for a condition, at most `timeoutMs` of real time. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 5_000,
): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await condition())) {
    claim(Date.now() < end, `${what}: not within ${timeoutMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** `[undefined, value]` or `[error]`. */
export async function settled<T>(work: Promise<T>): Promise<[error: unknown, value?: T]> {
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

/** JSON with sorted keys, and with what JSON would lose spelled out. */
function show(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (inner === undefined) return '<undefined>'
    if (typeof inner === 'bigint' || typeof inner === 'function' || typeof inner === 'symbol')
      return String(inner)
    if (inner instanceof Uint8Array) return `<bytes ${[...inner].join(' ')}>`
    if (inner instanceof Map) return { '<map>': [...inner] }
    if (inner instanceof Set) return { '<set>': [...inner] }
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
