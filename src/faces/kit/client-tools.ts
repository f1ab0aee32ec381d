import {
  CLIENT_TOOLS,
  type ClientTool,
  clientToolNames,
  MODEL_REQUEST,
  type ModelRequest,
} from '../../agents/model-request.ts'
import type { Principal } from '../../core/http/index.ts'
import type { AgentEngine, StoredConfig, ThreadRecord } from '../../engine/index.ts'
import { isRecord, itemsOf } from '../../messages/record.ts'

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

/** The names of tools, for the details of an answer: its runs' records are not kept as long. */
export const namesOf = (tools: readonly ClientTool[]): readonly string[] =>
  tools.map((tool) => tool.function.name)

/**
 * The tools that the client of a thread's newest run was given to run: only their results may come from a
 * client. A call that was stopped may also be one of a tool that the agent runs itself, and its result is
 * not the client's to make up.
 *
 * @param runId The run to ask about. Default: the newest.
 */
export async function toolsOfRun(
  engine: AgentEngine,
  principal: Principal | null,
  { threadId, lastRunId }: ThreadRecord,
  runId: string | null = lastRunId,
): Promise<ReadonlySet<string>> {
  if (runId === null) return new Set()
  const of = { threadId, principal }
  const run = await engine.getRun({ ...of, runId })
  if (run) return new Set(namesOf(clientToolNames(run.config.configurable)[CLIENT_TOOLS] ?? []))
  // The record of a run is kept for a day, that of its answer as long as the thread.
  const { details } = (await engine.findAnswer({ ...of, answerId: runId }))?.record ?? {}
  return new Set(
    itemsOf(isRecord(details) ? details.clientTools : []).filter((name) => typeof name === 'string'),
  )
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
