import { MissingRequiredClientCapabilityError, ProtocolError } from '@modelcontextprotocol/server'
import { AgentInputError } from '../../agents/errors.ts'
import { AgentwireError } from '../../core/errors.ts'
import { HttpError, originOf, reportError } from '../../core/http/index.ts'
import { RunError } from '../../engine/index.ts'
import { ERRORS } from '../kit/errors.ts'
import { type Fields, type McpCall, TASKS } from './call.ts'

/** JSON-RPC 2.0, §5.1. */
const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

export const invalidParams = (message: string): ProtocolError => new ProtocolError(INVALID_PARAMS, message)

export const noTasks = (): ProtocolError =>
  new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } })

/**
 * The reason for a rejection that the caller can correct. Undefined for a server error, and for a server that
 * is closing.
 */
function refusalOf(error: unknown): string | undefined {
  const isRefusal =
    error instanceof AgentInputError ||
    (error instanceof RunError && error.code !== 'closing') ||
    (error instanceof HttpError && error.status < 500)
  return isRefusal ? (error as AgentwireError).message : undefined
}

/** A rejection as a tool result, for the model to read. Rethrows any other error. */
export function toolError(error: unknown): Fields {
  const text = refusalOf(error)
  if (text === undefined) throw error
  return { content: [{ type: 'text', text }], isError: true }
}

/** An error as clients see it. A server error is reported, and the client only sees its reference. */
export function protocolError({ context, call }: McpCall, error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (error instanceof RunError) return new ProtocolError(ERRORS[error.code].mcp, error.message)
  const refusal = refusalOf(error)
  if (refusal !== undefined)
    return new ProtocolError(error instanceof AgentInputError ? INVALID_PARAMS : INVALID_REQUEST, refusal)
  if (error instanceof AgentwireError && error.code === 'closing')
    return new ProtocolError(INTERNAL_ERROR, error.message)
  const reference = reportError(error, context.onError, originOf(call.request))
  return new ProtocolError(
    INTERNAL_ERROR,
    `The server failed to answer this request. Reference: ${reference}.`,
  )
}
