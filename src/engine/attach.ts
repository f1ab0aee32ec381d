import type { Store } from '../storage/store/store.ts'
import type { RunOrigin } from './failures.ts'
import type { ServerEvent } from './observe.ts'

/** A part that an engine closes. */
export interface Attached {
  close(): Promise<void>
}

/** What an engine passes to attached parts. */
export interface EngineParts {
  readonly store: Store
  readonly observe: (event: ServerEvent) => void
  /** Passes an error to the operator's `onError`, and returns its error id. */
  readonly report: (error: unknown, origin: RunOrigin) => string
}

/** Returns the part that `make` creates for this engine. The same `make` always returns the same part. */
export type Attach = <Part extends Attached>(make: (parts: EngineParts) => Part) => Part

/** Creates each part once, identified by its `make` function. */
export function createAttach(context: EngineParts): {
  readonly attach: Attach
  readonly close: () => Promise<void>
} {
  const attached = new Map<unknown, Attached>()
  return {
    attach(make) {
      const part = attached.get(make) ?? make(context)
      attached.set(make, part)
      return part as ReturnType<typeof make>
    },
    async close() {
      await Promise.all([...attached.values()].map((part) => part.close()))
    },
  }
}
