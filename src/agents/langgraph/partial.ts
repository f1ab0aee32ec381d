import type { AgentEvent } from '../../messages/thread-events/index.ts'
import type {
  CheckpointConfig,
  Checkpointer,
  CheckpointTuple,
} from '../../storage/checkpointer/checkpointer.ts'
import type { SaverHook } from '../../storage/checkpointer/hooks.ts'
import type { AgentTask, StateAddress, StateSnapshot } from '../agent.ts'
import { beforePartial, cancelledResults, PARTIAL, partialMessage } from '../cancelled.ts'
import { configOf } from '../checkpoint-config.ts'
import { callsOfGraph, isResult } from '../open-calls.ts'
import { uuid6 } from '../uuid6.ts'
import type { Translator } from './events.ts'
import { withVersions } from './saver-views.ts'
import { INTERRUPT } from './snapshot.ts'

type Unsaved = ReturnType<Translator['unsaved']>

/**
 * Adds unfinished messages of the nodes to the state, and a result for each tool call without one, in a
 * checkpoint after the newest one with the same next nodes and tasks. Returns its events.
 *
 * Adds nothing if a node of the step waits for an answer. If one has ended, its other messages belong to the
 * previous checkpoint, and only results of calls are added.
 */
export async function keepPartial(
  { threadId, checkpointer }: Pick<AgentTask, 'threadId' | 'checkpointer'>,
  { checkpointId, messages }: Unsaved,
  readState: (at: StateAddress) => Promise<StateSnapshot | undefined>,
): Promise<readonly AgentEvent[]> {
  if (checkpointId === undefined) return []
  // Until the run's own checkpoint is saved, the newest one may belong to another branch.
  const tuple =
    (await checkpointer.getTuple(configOf({ threadId, checkpointId }))) &&
    (await checkpointer.getTuple(configOf({ threadId })))
  if (!tuple) return []
  const { checkpoint, metadata, pendingWrites = [] } = tuple
  const { messages: before } = checkpoint.channel_values
  if (!Array.isArray(before) || pendingWrites.some(([, channel]) => channel === INTERRUPT)) return []
  const known = new Set(before.map((message: { readonly id?: unknown } | null) => message?.id))
  const results = writtenResults(pendingWrites)
  const texts = pendingWrites.length > 0 ? [] : messages.filter(({ id }) => !known.has(id))
  const added = [
    ...results,
    ...cancelledResults(before, callsOfGraph, results),
    ...texts.flatMap(({ id, text, name, isFinished }) => partialMessage(id, text, name, isFinished) ?? []),
  ]
  if (added.length === 0) return []
  const id = uuid6(checkpoint.id)
  const version = versionAfter(checkpointer, Object.values(checkpoint.channel_versions))
  const step = (metadata?.step ?? 0) + 1
  await checkpointer.put(
    tuple.config,
    {
      ...checkpoint,
      id,
      ts: new Date().toISOString(),
      channel_values: { ...checkpoint.channel_values, messages: [...before, ...added] },
      channel_versions: { ...checkpoint.channel_versions, messages: version },
    },
    { ...metadata, source: 'update', step, parents: {}, ...PARTIAL },
    { messages: version },
  )
  const state = await readState({ threadId, checkpointer })
  const data = { id, parent_id: checkpoint.id, step, source: 'update' } as const
  return [
    { method: 'checkpoints', namespace: [], data },
    { method: 'values', namespace: [], data: state?.values ?? {} },
  ]
}

/** The results of tools that have ended while others of their step have not. */
export const writtenResults = (pendingWrites: NonNullable<CheckpointTuple['pendingWrites']>) =>
  pendingWrites.flatMap(([, channel, value]) =>
    channel === 'messages' ? [value].flat().filter(isResult) : [],
  )

function versionAfter(checkpointer: Checkpointer, versions: readonly (number | string)[]): number | string {
  // biome-ignore lint/complexity/useMathMinMax: the versions of some savers are text
  const newest = versions.reduce((one, other) => (other > one ? other : one), versions[0] ?? 0)
  const saver = withVersions(checkpointer) as Checkpointer & {
    getNextVersion(version: number | string): number | string
  }
  return saver.getNextVersion(newest)
}

/**
 * When a run without input continues a cancelled run, the head is the checkpoint before the one that the
 * cancel added, because the cancelled nodes run again. With the added checkpoint's id, LangGraph would also
 * repeat the nodes that had ended.
 */
export async function continuing(task: AgentTask): Promise<SaverHook | undefined> {
  const { threadId, checkpointer, checkpointId, start } = task
  if (checkpointId !== undefined || start.kind !== 'input' || (start.value ?? null) !== null) return undefined
  const before = beforePartial(await checkpointer.getTuple(configOf({ threadId })))
  return before === undefined ? undefined : withHead(configOf({ threadId, checkpointId: before }))
}

/** An earlier checkpoint is the head until the run has written one. */
function withHead(head: CheckpointConfig): SaverHook {
  let hasWritten = false
  const isRoot = ({ configurable }: CheckpointConfig) => !configurable?.checkpoint_ns
  return {
    async put(put, config, ...rest) {
      const saved = await put(config, ...rest)
      hasWritten ||= isRoot(config)
      return saved
    },
    getTuple: (getTuple, config) =>
      getTuple(
        hasWritten || !isRoot(config) || config.configurable?.checkpoint_id !== undefined ? config : head,
      ),
  }
}
