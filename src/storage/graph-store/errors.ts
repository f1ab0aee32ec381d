import { AgentwireError } from '../../core/errors.ts'

/**
 * Invalid use of the graph store: `invalid_namespace`, `invalid_key`, `invalid_value`, `invalid_argument`,
 * and `embed_failed` for invalid vectors.
 */
export class GraphStoreError extends AgentwireError {
  static override readonly brand = 'GraphStoreError'
}
