import type { Store } from '../storage/store/store.ts'
import type { RunOrigin } from './failures.ts'
import type { ServerEvent } from './observe.ts'

/** Something that an engine closes. */
export interface Attached {
  close(): Promise<void>
}

/** What an engine gives to what is attached to it. */
export interface EngineParts {
  readonly store: Store
  readonly observe: (event: ServerEvent) => void
  /** Passes an error to the operator's `onError`, and gives the error id that it gets. */
  readonly report: (error: unknown, origin: RunOrigin) => string
}

export type Attach = <Part extends Attached>(make: (parts: EngineParts) => Part) => Part

/** Makes each part once, by the function that makes it. */
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
