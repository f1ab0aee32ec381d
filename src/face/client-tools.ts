import { CLIENT_TOOLS, type ClientTool, MODEL_REQUEST, type ModelRequest } from '../agents/model-request.ts'
import type { StoredConfig } from '../runs/index.ts'

/**
 * The config of a run whose client has these tools and asks this of the model. They replace what the client
 * set under the same keys. Agents find them there, and functions as `request` of their context.
 */
export function withClientTools<Config extends Pick<StoredConfig, 'configurable'>>(
  config: Config,
  tools: readonly ClientTool[],
  request: Omit<ModelRequest, 'tools'> = {},
): Config {
  const { [CLIENT_TOOLS]: _, [MODEL_REQUEST]: __, ...others } = config.configurable
  const configurable = {
    ...others,
    ...(tools.length > 0 && { [CLIENT_TOOLS]: tools }),
    ...(Object.keys(request).length > 0 && { [MODEL_REQUEST]: request }),
  }
  return { ...config, configurable }
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
