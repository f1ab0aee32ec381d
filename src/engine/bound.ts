import { type Access, accessOf, type Principal } from '../core/principal.ts'
import type { Attach } from './attach.ts'
import type { RunContext } from './context.ts'
import { RunError } from './errors.ts'

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
