import type { AgentEvent } from '../../events/index.ts'
import type { Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import type { AgentTask, StateAddress, StateSnapshot } from '../agent.ts'
import { beforePartial, PARTIAL, partialMessage } from '../cancelled.ts'
import { configOf } from '../checkpoint-config.ts'
import { uuid6 } from '../uuid6.ts'
import type { Translator } from './events.ts'
import { withVersions } from './saver-views.ts'

type Unsaved = ReturnType<Translator['unsaved']>

/**
 * Adds unfinished messages of the nodes to the state, in a checkpoint after the newest one with the same next
 * nodes and tasks. Returns its events.
 *
 * Adds nothing if a node of the step has ended or waits for an answer: its results belong to the previous
 * checkpoint.
 */
export async function keepPartial(
  { threadId, checkpointer }: Pick<AgentTask, 'threadId' | 'checkpointer'>,
  { checkpointId, messages }: Unsaved,
  readState: (at: StateAddress) => Promise<StateSnapshot | undefined>,
): Promise<readonly AgentEvent[]> {
  if (messages.length === 0 || checkpointId === undefined) return []
  // Until the run's own checkpoint is saved, the newest one may belong to another branch.
  const tuple =
    (await checkpointer.getTuple(configOf({ threadId, checkpointId }))) &&
    (await checkpointer.getTuple(configOf({ threadId })))
  if (!tuple) return []
  const { checkpoint, metadata, pendingWrites = [] } = tuple
  const { messages: before } = checkpoint.channel_values
  if (!Array.isArray(before) || pendingWrites.length > 0) return []
  const known = new Set(before.map((message: { readonly id?: unknown } | null) => message?.id))
  const added = messages
    .filter(({ id }) => !known.has(id))
    .flatMap(({ id, text, name, isFinished }) => partialMessage(id, text, name, isFinished) ?? [])
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

function versionAfter(checkpointer: Checkpointer, versions: readonly (number | string)[]): number | string {
  // biome-ignore lint/complexity/useMathMinMax: the versions of some savers are text
  const newest = versions.reduce((one, other) => (other > one ? other : one), versions[0] ?? 0)
  const saver = withVersions(checkpointer) as Checkpointer & {
    getNextVersion(version: number | string): number | string
  }
  return saver.getNextVersion(newest)
}

/**
 * The checkpoint where a run without input continues: before the output of its cancelled nodes, because they
 * run again.
 */
export async function continuationOf({
  threadId,
  checkpointer,
  checkpointId,
  start,
}: AgentTask): Promise<string | undefined> {
  if (checkpointId !== undefined || start.kind !== 'input' || (start.value ?? null) !== null)
    return checkpointId
  return beforePartial(await checkpointer.getTuple(configOf({ threadId })))
}
