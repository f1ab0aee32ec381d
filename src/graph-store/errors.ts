import { AgentwireError } from '../errors.ts'

/**
 * Something that the store for graphs does not take: `invalid_namespace`, `invalid_key`, `invalid_value`, `invalid_argument`, and
 * `embed_failed` for vectors that are not what was promised.
 */
export class GraphStoreError extends AgentwireError {
  static override readonly brand = 'GraphStoreError'
}
