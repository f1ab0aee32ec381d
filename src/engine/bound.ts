import { type Access, accessOf, type Principal } from '../core/principal.ts'
import type { Store } from '../storage/store/store.ts'
import type { RunContext } from './context.ts'
import { RunError } from './errors.ts'
import type { RunOrigin } from './failures.ts'
import type { ServerEvent } from './observe.ts'

/** An engine as seen by its own functions. */
export interface BoundEngine {
  readonly context: RunContext
  /** Called before each request: see `startMaintenance`. */
  readonly maintain: () => void
  readonly attach: Attach
}

/** The request of a function that checks access, with a principal in place of the access fields. */
export type CallerRequest<Request extends Access> = Omit<Request, keyof Access> & {
  readonly principal?: Principal | null | undefined
}

export function asPrincipal<Request extends Access, Result>(
  { context, maintain }: BoundEngine,
  method: (context: RunContext, request: Request) => Result,
  request: CallerRequest<Request>,
): Result {
  maintain()
  return method(context, { ...request, ...accessOf(request.principal) } as unknown as Request)
}

/**
 * The key of an engine's internals. A server may load this library twice, as ESM and CommonJS or in two
 * bundles of Next: faces of one copy can use the engine of the other.
 */
const BOUND: unique symbol = /* @__PURE__ */ Symbol.for('agentwire.engine')

export const bind = <Engine extends object>(engine: Engine, bound: BoundEngine): Engine =>
  Object.assign(engine, { [BOUND]: bound })

/** The internals of an engine. Throws `invalid_argument` for any other object. */
export function boundOf(engine: object): BoundEngine {
  const { [BOUND]: bound } = engine as { readonly [BOUND]?: BoundEngine }
  if (bound) return bound
  throw new RunError('invalid_argument', 'engine: pass the engine that createAgentEngine returned.')
}

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
