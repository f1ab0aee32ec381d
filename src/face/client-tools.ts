import type { StoredConfig } from '../runs/index.ts'

/**
 * A tool that a client runs itself. An agent finds the list as `config.configurable.client_tools`, in the form that `bindTools` of LangChain
 * takes. Where its model calls one of them it ends its run, with the calls in the last message of its state. They have no results then:
 * the client gives them as tool messages with its next request.
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

/** The config of a run whose client has these tools. They take the place of what the client has set under their key. */
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
  /** The call of the subagent that has made it, or null. */
  readonly owner: string | null
}

/** What the items of an answer say of calls. */
export type CallItem =
  | { readonly type: 'callStart' | 'callResult'; readonly call: Call }
  | { readonly type: 'retract'; readonly calls: readonly string[] }

export interface PendingCalls {
  push(item: CallItem): void
  /** In the order in which they began. They are known when the run has ended: until then the agent may run a tool of this name itself. */
  ids(): readonly string[]
}

/** Tells which calls of an answer its client is to answer: those of its tools that the agent itself has made, and that have no result. */
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
