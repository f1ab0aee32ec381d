import { isRecord } from '../messages/record.ts'

/**
 * A tool that the client runs, in the form that LangChain's `bindTools` accepts. When the model calls one,
 * the agent ends its run with the calls in the last message of its state. The client sends their results as
 * tool messages in its next request.
 */
export interface ClientTool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string | undefined
    /** JSON Schema of an object. */
    readonly parameters?: Readonly<Record<string, unknown>> | undefined
  }
}

/** What a client asks of the model, in one form for all protocols. An agent may ignore any of it. */
export interface ModelRequest {
  /** The tools that the client runs. */
  readonly tools?: readonly ClientTool[] | undefined
  /** A name is the tool that the model must call. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string } | undefined
  readonly parallelToolCalls?: boolean | undefined
  /** The format of the answer. Default: text. */
  readonly responseFormat?: ResponseFormat | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  /** The maximum number of tokens of the answer. */
  readonly maxTokens?: number | undefined
  readonly stop?: readonly string[] | undefined
  readonly seed?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly frequencyPenalty?: number | undefined
  /** Such as `low`, `medium` or `high`. */
  readonly reasoningEffort?: string | undefined
}

export type ResponseFormat =
  | { readonly type: 'text' | 'json' }
  | {
      readonly type: 'schema'
      readonly name?: string | undefined
      readonly description?: string | undefined
      /** JSON Schema. */
      readonly schema: Readonly<Record<string, unknown>>
      readonly strict?: boolean | undefined
    }

/** Where agents find them in `config.configurable`. */
export const CLIENT_TOOLS = 'client_tools'
export const MODEL_REQUEST = 'model_request'

/** The request of a run. Empty if its client asks nothing. */
export function requestIn(configurable: Readonly<Record<string, unknown>>): ModelRequest {
  const { [MODEL_REQUEST]: request, [CLIENT_TOOLS]: tools } = configurable
  return { ...(isRecord(request) && request), ...(Array.isArray(tools) && { tools }) }
}

/** The tools of a run's client in its `configurable`, with nothing but their names. */
export function clientToolNames(
  configurable: Readonly<Record<string, unknown>>,
): Readonly<Record<string, readonly ClientTool[]>> {
  const { [CLIENT_TOOLS]: tools } = configurable
  const named = (Array.isArray(tools) ? tools : []).flatMap((tool): readonly ClientTool[] => {
    const { name } = Object(Object(tool).function) as { readonly name?: unknown }
    return typeof name === 'string' ? [{ type: 'function', function: { name } }] : []
  })
  return named.length > 0 ? { [CLIENT_TOOLS]: named } : {}
}
