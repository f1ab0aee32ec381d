import { agentIds } from '../../agents/agent-ids.ts'
import { AgentInputError } from '../../agents/errors.ts'
import { AgentwireError } from '../../core/errors.ts'
import { errorResponse, HttpError, json, toHttpError } from '../../core/http/index.ts'
import { type AgentEngine, RunError } from '../../engine/index.ts'
import { ERRORS } from '../kit/errors.ts'

/** The JSON-RPC code of each error. Source: A2A v0.3.0 §8, v1.0 §5.4, JSON-RPC 2.0 §5.1. */
export const A2A_ERROR_CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  task_not_found: -32001,
  task_not_cancelable: -32002,
  push_notification_not_supported: -32003,
  unsupported_operation: -32004,
  content_type_not_supported: -32005,
  invalid_agent_response: -32006,
  extended_agent_card_not_configured: -32007,
  extension_support_required: -32008,
  version_not_supported: -32009,
} as const

/** The codes of `A2AError`. */
export type A2AErrorCode = keyof typeof A2A_ERROR_CODES

/** A request that this face rejected. No state was changed. */
export class A2AError extends AgentwireError {
  static override readonly brand = 'A2AError'
  declare readonly code: A2AErrorCode
  /**
   * Sent as the metadata of ErrorInfo, such as `{ taskId }`. For `invalid_params`, `field` is the path of the
   * invalid value.
   */
  readonly details: Readonly<Record<string, string>>
  constructor(code: A2AErrorCode, message: string, details: Readonly<Record<string, string>> = {}) {
    super(code, message)
    this.details = details
  }
}

/**
 * The response if an assistant does not exist, or not for this caller. It lists the graphs, which are public
 * in their cards.
 */
export function noSuchAssistant({ agents }: Pick<AgentEngine, 'agents'>): HttpError {
  const known = agentIds(agents)
  return new HttpError(404, 'not_found', `There is no assistant with this id. This server has: ${known}.`)
}

/** The A2A code of errors from reading a body. */
const OF_BODIES: Readonly<Partial<Record<string, A2AErrorCode>>> = {
  invalid_json: 'parse_error',
  invalid_encoding: 'parse_error',
  incomplete_body: 'parse_error',
  payload_too_large: 'invalid_request',
  too_deep: 'invalid_request',
}

/** The only engine error that the client should retry and that is not reported. */
const closingOf = (error: unknown): HttpError | undefined =>
  error instanceof RunError && error.code === 'closing'
    ? new HttpError(503, 'closing', error.message, { headers: { 'retry-after': '1' } })
    : undefined

/** An error that the client can fix. Undefined for any other. */
function refusalOf(error: unknown): A2AError | undefined {
  if (error instanceof A2AError) return error
  if (error instanceof AgentInputError) return new A2AError('invalid_params', error.message)
  if (error instanceof RunError) return new A2AError(ERRORS[error.code].a2a, error.message)
  if (error instanceof HttpError && error.status < 500)
    return new A2AError(OF_BODIES[error.code] ?? 'invalid_params', error.message)
  return undefined
}

/**
 * These stay plain HTTP, because both versions of A2A leave authentication and the agent's address to HTTP.
 */
export const isHttpOnly = (error: unknown): boolean =>
  error instanceof HttpError && [401, 403, 404].includes(error.status)

/**
 * An error as JSON-RPC. The status is 200, except for errors that a client or proxy should see without
 * reading the body.
 */
interface RpcFailure {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly code: A2AErrorCode
  readonly error: { readonly code: number; readonly message: string; readonly data: readonly unknown[] }
}

/**
 * `report` passes an error that is the server's fault to its operator, and returns the reference for the
 * client.
 */
export function failureOf(error: unknown, report: (error: unknown) => string): RpcFailure {
  const closing = closingOf(error)
  if (closing) return failure(new A2AError('internal_error', closing.message), 503, closing.headers)
  const refusal = refusalOf(error)
  if (refusal) {
    const isTooLarge = error instanceof HttpError && error.status === 413
    return failure(refusal, isTooLarge ? 413 : 200)
  }
  const { status, message, headers } = toHttpError(error)
  const internal = new A2AError('internal_error', `${message} Reference: ${report(error)}.`)
  return failure(internal, status === 500 ? 200 : status, headers)
}

const DETAIL = 'type.googleapis.com/google.rpc.'

function failure(error: A2AError, status: number, headers: RpcFailure['headers'] = {}): RpcFailure {
  const { code, message, details } = error
  const info = {
    '@type': `${DETAIL}ErrorInfo`,
    reason: code.toUpperCase(),
    domain: 'a2a-protocol.org',
    metadata: details,
  }
  const { field } = details
  const violation = {
    '@type': `${DETAIL}BadRequest`,
    fieldViolations: [{ field, description: message }],
  }
  const data = field === undefined ? [info] : [info, violation]
  return { status, headers, code, error: { code: A2A_ERROR_CODES[code], message, data } }
}

/** Errors of this group outside JSON-RPC, such as those of the card: `{ error, message }` with a status. */
export function encodeA2AError(error: unknown): Response | undefined {
  if (error instanceof HttpError) return undefined
  const closing = closingOf(error)
  if (closing) return errorResponse(closing)
  const refusal = refusalOf(error)
  if (!refusal) return undefined
  const { code, message } = refusal
  return json({ error: code, message }, { status: code.endsWith('not_found') ? 404 : 400 })
}
