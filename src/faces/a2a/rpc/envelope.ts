import { filterFields, isRecord } from '../../../messages/record.ts'
import { A2AError } from '../errors.ts'

/** JSON-RPC 2.0 §4: the id that a response repeats. */
export type RpcId = string | number | null

export interface RpcRequest {
  readonly hasId: boolean
  readonly method: string
  readonly params: unknown
  /** LangGraph's clients send `thread_id` here. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/** Limited because every item of a stream repeats the id. */
const MAX_ID_LENGTH = 1_024

/**
 * The id of a request. Ids that cannot be repeated exactly are invalid: numbers with a fraction, and numbers
 * too large for a double.
 */
export function idOf(body: unknown): RpcId {
  return isRecord(body) && isRpcId(body.id) ? body.id : null
}

const isRpcId = (id: unknown): id is RpcId =>
  id === null || Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= MAX_ID_LENGTH)

/** Other members are ignored. Throws `parse_error` for an empty body, and `invalid_request`. */
export function readEnvelope(body: unknown): RpcRequest {
  if (body === undefined) throw new A2AError('parse_error', 'The body is empty. Send a JSON-RPC 2.0 request.')
  if (Array.isArray(body)) throw invalid('Batches are not supported. Send each request on its own.')
  if (!isRecord(body)) throw invalid('Expected a JSON-RPC 2.0 request, which is an object.')
  const { jsonrpc, id, method, params, metadata } = body
  if (jsonrpc !== '2.0') throw invalid('jsonrpc: expected "2.0".')
  if (id !== undefined && !isRpcId(id)) throw invalidId()
  if (typeof method !== 'string' || method === '')
    throw invalid('method: expected a string that is not empty.')
  return {
    hasId: id !== undefined,
    method,
    params,
    metadata: isRecord(metadata) ? filterFields(metadata, (key) => key !== '__proto__') : undefined,
  }
}

/** The error of a request whose id is missing or cannot be repeated. */
export const invalidId = (): A2AError =>
  invalid(
    `id: expected a string of at most ${MAX_ID_LENGTH} characters, a whole number, or null. Every A2A method has a response.`,
  )

const invalid = (message: string): A2AError => new A2AError('invalid_request', message)
