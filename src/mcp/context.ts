import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import type { FaceCall, FaceContext } from '../face/routes.ts'
import type { McpOptions } from './options.ts'

export interface McpContext extends FaceContext {
  readonly options: McpOptions
  /** Whether callers are asked who they are. */
  readonly isGuarded: boolean
  readonly allowsOrigin: (origin: string) => boolean
}

/** One request of MCP. */
export interface McpCall {
  readonly context: McpContext
  readonly call: FaceCall
  readonly request: ServerContext['mcpReq']
  /** Revision 2026-07-28. */
  readonly isModern: boolean
}

export type Fields = Readonly<Record<string, unknown>>

/** The extension of tasks. Source: SEP-2663. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** What the client of a request can do. Earlier revisions say it once, to a server that forgets it. */
function capabilitiesOf({ isModern, request: { envelope } }: McpCall): Fields {
  return isModern ? Object((envelope as Fields | undefined)?.[CLIENT_CAPABILITIES_META_KEY]) : {}
}

export const takesTasks = (asked: McpCall): boolean => {
  const { extensions } = capabilitiesOf(asked)
  return asked.context.options.tasks !== false && TASKS in Object(extensions)
}

/** Whether the client shows forms. A client that tells no mode does. */
export function takesForms(asked: McpCall): boolean {
  const { elicitation } = capabilitiesOf(asked)
  if (typeof elicitation !== 'object' || elicitation === null) return false
  return 'form' in elicitation || Object.keys(elicitation).length === 0
}
