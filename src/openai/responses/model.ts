import type { ClientTool } from '../../face/client-tools.ts'
import { filterFields } from '../../messages/record.ts'
import type { ResponseBody } from '../wire.ts'

/** The fields of a response that repeat its request. Clients expect all of them. */
export type Echo = Readonly<Record<string, unknown>>

/** What this face keeps with the run of a response, as plain JSON. */
export interface ResponseDetails {
  readonly object: 'response'
  /** A digest of the request, by which one that is sent again is known. */
  readonly request: string
  readonly echo: Echo
  readonly clientTools: readonly ClientTool[]
  /** The last message of its input. Null where it answers questions. */
  readonly after: string | null
  /** Whether its client takes requests for approval, and does not need a function call. */
  readonly takesApprovals: boolean
  readonly questionTool: string
}

/** The name under which a client names this server among its MCP servers, to be sent requests for approval. */
export const SERVER_LABEL = 'agentwire'

export const takesApprovals = ({ tools = [] }: ResponseBody): boolean =>
  tools.some(({ type, server_label: label }) => type === 'mcp' && label === SERVER_LABEL)

export const clientToolsOf = ({ tools = [] }: ResponseBody): readonly ClientTool[] =>
  tools.flatMap(({ type, name, description, parameters }) =>
    type === 'function' && name !== undefined
      ? [
          {
            type: 'function',
            function: { name, ...filterFields({ description, parameters }, (_, one) => one !== undefined) },
          },
        ]
      : [],
  )

/** The repeated fields, with what stands for those that the request has left out. */
export function echoOf(body: ResponseBody, conversationId: string | null): Echo {
  const { tools = [], reasoning, text, metadata } = body
  return {
    model: body.model,
    instructions: body.instructions ?? null,
    previous_response_id: body.previous_response_id ?? null,
    conversation: conversationId === null ? null : { id: conversationId },
    tools: tools.map((tool) =>
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
