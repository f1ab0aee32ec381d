import type { ClientTool } from '../../../agents/model-request.ts'
import { isRecord } from '../../../messages/record.ts'
import type { ResponseBody } from '../wire.ts'

/** The response fields that repeat the request. Clients expect all of them. */
export type Echo = Readonly<Record<string, unknown>>

/** The details that this face stores with the run of a response, as plain JSON. */
export interface ResponseDetails {
  readonly object: 'response'
  /** A digest of the request that identifies its retries. */
  readonly request: string
  readonly echo: Echo
  readonly clientTools: readonly ClientTool[]
  /** The last message of its input. Null if it answers questions. */
  readonly after: string | null
  /** Whether the client accepts approval requests instead of function calls. */
  readonly takesApprovals: boolean
  readonly questionTool: string
}

/**
 * The label of this server among a client's MCP servers. A client that lists it receives approval requests.
 */
export const SERVER_LABEL = 'agentwire'

export const takesApprovals = ({ tools = [] }: ResponseBody): boolean =>
  tools.filter(isRecord).some(({ type, server_label: label }) => type === 'mcp' && label === SERVER_LABEL)

/** The repeated fields, with defaults for those that the request omits. */
export function echoOf(body: ResponseBody, conversationId: string | null): Echo {
  const { tools = [], reasoning, text, metadata } = body
  return {
    model: body.model,
    instructions: body.instructions ?? null,
    previous_response_id: body.previous_response_id ?? null,
    conversation: conversationId === null ? null : { id: conversationId },
    tools: tools.filter(isRecord).map((tool) =>
      tool.type === 'function'
        ? {
            type: tool.type,
            name: tool.name,
            description: tool.description ?? null,
            parameters: tool.parameters ?? null,
            strict: null,
          }
        : tool,
    ),
    tool_choice: body.tool_choice ?? 'auto',
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    text: { format: { type: 'text' }, ...text },
    reasoning: reasoning ? { effort: null, summary: null, ...reasoning } : null,
    truncation: body.truncation ?? 'disabled',
    temperature: body.temperature ?? 1,
    top_p: body.top_p ?? 1,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    top_logprobs: body.top_logprobs ?? 0,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: metadata ?? {},
    store: body.store ?? true,
    background: body.background ?? false,
    service_tier: body.service_tier ?? 'default',
    user: body.user ?? null,
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
  }
}
