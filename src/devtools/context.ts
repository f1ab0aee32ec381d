import type { FaceContext } from '../face/routes.ts'
import type { Principal } from '../http/index.ts'
import type { OptionTable } from '../options.ts'

/** The context of every endpoint in this group. */
export interface DevtoolsContext extends FaceContext {
  readonly isOperator: NonNullable<DevtoolsOptions['isOperator']>
}

export interface DevtoolsOptions {
  /** The path prefix, such as `/internal` for `/internal/devtools`. Default: none. */
  readonly basePath?: string | undefined
  /**
   * Whether a caller sees the process's load and the contents of the whole store, for all owners. Other
   * callers only see their own data. Default: false for everyone, or true on a server without `authenticate`.
   */
  readonly isOperator?: ((principal: Principal | null) => boolean | Promise<boolean>) | undefined
}

export const DEVTOOLS_OPTIONS: OptionTable<DevtoolsOptions> = { basePath: 'string', isOperator: 'function' }
