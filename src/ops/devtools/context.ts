import type { Principal } from '../../core/http/index.ts'
import type { OptionTable } from '../../core/options.ts'
import type { FaceContext } from '../../faces/kit/routes.ts'

/** The context of every endpoint in this group. */
export interface DevtoolsContext extends FaceContext {
  readonly isOperator: NonNullable<DevtoolsOptions['isOperator']>
  readonly prices: NonNullable<DevtoolsOptions['prices']>
}

/** The prices of a model, in US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  /** For input tokens read from the provider's cache. Default: `input`. */
  readonly cacheRead?: number | undefined
  /** For input tokens written to the provider's cache. Default: `input`. */
  readonly cacheWrite?: number | undefined
}

export interface DevtoolsOptions {
  /** The path prefix, such as `/internal` for `/internal/devtools`. Default: none. */
  readonly basePath?: string | undefined
  /**
   * Whether a caller sees the process's load and the contents of the whole store, for all owners. Other
   * callers only see their own data. Default: false for everyone, or true on a server without `authenticate`.
   */
  readonly isOperator?: ((principal: Principal | null) => boolean | Promise<boolean>) | undefined
  /**
   * Prices by model name, without the date that providers append. `*` applies to calls whose model the log does
   * not name. The page shows the cost of a call if its provider reports it or its model has a price. Default: none.
   */
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined
}

const PRICE: OptionTable<ModelPrice> = {
  input: ['required', 'number'],
  output: ['required', 'number'],
  cacheRead: 'number',
  cacheWrite: 'number',
}

export const DEVTOOLS_OPTIONS: OptionTable<DevtoolsOptions> = {
  basePath: 'string',
  isOperator: 'function',
  prices: { '*': PRICE },
}
