import { setTimeout as sleep } from 'node:timers/promises'

/** A promise that the test settles itself. */
export interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

export function gate(): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Settles when the condition holds, which it asks about every few milliseconds. Without `timeoutMs` the test's own timeout limits it. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  { everyMs = 5, timeoutMs = Number.POSITIVE_INFINITY, what = 'The condition' } = {},
): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${what} was not ready within ${timeoutMs} ms.`)
    await sleep(everyMs)
  }
}

/** Lets the event loop turn so many times. */
export async function turns(count = 1): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve))
}

/** Settles when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
