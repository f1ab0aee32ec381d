import { agentIds } from '../../agents/description.ts'
import { AgentwireError } from '../../core/errors.ts'
import { HttpError } from '../../core/http/index.ts'
import type { AgentEngine } from '../../engine/index.ts'

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
