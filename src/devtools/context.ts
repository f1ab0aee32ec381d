import type { FaceContext } from '../face/routes.ts'
import type { Principal } from '../http/index.ts'
import type { OptionTable } from '../options.ts'

/** What every endpoint of this group needs. */
export interface DevtoolsContext extends FaceContext {
  readonly isOperator: NonNullable<DevtoolsOptions['isOperator']>
}

export interface DevtoolsOptions {
  /** Such as `/internal`, for `/internal/devtools`. Default: none. */
  readonly basePath?: string | undefined
  /**
   * Who sees the load of the process and what the whole store holds, of all owners. Others see what is theirs.
   * Default: nobody; on a server without `authenticate`, everybody.
   */
  readonly isOperator?: ((principal: Principal | null) => boolean | Promise<boolean>) | undefined
}

export const DEVTOOLS_OPTIONS: OptionTable<DevtoolsOptions> = { basePath: 'string', isOperator: 'function' }
