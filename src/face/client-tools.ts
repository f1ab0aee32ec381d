import type { StoredConfig } from '../runs/index.ts'

/**
 * A tool that the client runs. An agent finds the list in `config.configurable.client_tools`, in the form
 * that LangChain's `bindTools` accepts. When the model calls one, the agent ends its run with the calls in
 * the last message of its state. The client sends their results as tool messages in its next request.
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

const KEY = 'client_tools'

/** The config of a run whose client has these tools. They replace what the client set under the same key. */
export function withClientTools<Config extends Pick<StoredConfig, 'configurable'>>(
  config: Config,
  tools: readonly ClientTool[],
): Config {
  const { [KEY]: _, ...configurable } = config.configurable
  return { ...config, configurable: tools.length === 0 ? configurable : { ...configurable, [KEY]: tools } }
}

interface Call {
  readonly id: string
  readonly name: string
  /** The call of the subagent that made this call, or null. */
  readonly owner: string | null
}

/** Changes to calls in the items of an answer. */
export type CallItem =
  | { readonly type: 'callStart' | 'callResult'; readonly call: Call }
  | { readonly type: 'retract'; readonly calls: readonly string[] }

export interface PendingCalls {
  push(item: CallItem): void
  /**
   * In the order in which they began. Valid when the run has ended: before that, the agent may still run a
   * tool with this name itself.
   */
  ids(): readonly string[]
}

/**
 * Tracks the calls that the client must answer: calls of its tools that the agent itself made and that have
 * no result.
 */
export function createPendingCalls(tools: readonly ClientTool[]): PendingCalls {
  const names = new Set(tools.map((tool) => tool.function.name))
  const pending = new Set<string>()
  return {
    push(item) {
      if (item.type === 'retract') for (const id of item.calls) pending.delete(id)
      else if (item.type === 'callResult') pending.delete(item.call.id)
      else if (item.call.owner === null && names.has(item.call.name)) pending.add(item.call.id)
    },
    ids: () => [...pending],
  }
}
