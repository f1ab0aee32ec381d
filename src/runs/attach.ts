import type { RunContext } from './context.ts'

/** Something that an engine closes. */
export interface Attached {
  close(): Promise<void>
}

/** What an engine gives to what is attached to it. */
export type EngineParts = Pick<RunContext, 'store' | 'observe' | 'report'>

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
