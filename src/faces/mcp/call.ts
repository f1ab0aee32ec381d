import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import type { FaceCall } from '../kit/routes.ts'
import type { McpContext } from './options.ts'

/** One request of MCP. */
export interface McpCall {
  readonly context: McpContext
  readonly call: FaceCall
  readonly request: ServerContext['mcpReq']
  /** Revision 2026-07-28. */
  readonly isModern: boolean
}

export type Fields = Readonly<Record<string, unknown>>

/** The tasks extension. Source: SEP-2663. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** The client's capabilities. In earlier revisions a client sends them once, and this server is stateless. */
function capabilitiesOf({ isModern, request: { envelope } }: McpCall): Fields {
  return isModern ? Object((envelope as Fields | undefined)?.[CLIENT_CAPABILITIES_META_KEY]) : {}
}

export const takesTasks = (asked: McpCall): boolean => {
  const { extensions } = capabilitiesOf(asked)
  return asked.context.options.tasks !== false && TASKS in Object(extensions)
}

/** Whether the client shows forms. A client that lists no mode does. */
export function takesForms(asked: McpCall): boolean {
  const { elicitation } = capabilitiesOf(asked)
  if (typeof elicitation !== 'object' || elicitation === null) return false
  return 'form' in elicitation || Object.keys(elicitation).length === 0
}
