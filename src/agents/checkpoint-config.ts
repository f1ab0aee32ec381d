import type { CheckpointConfig, CheckpointListOptions } from '../storage/checkpointer/checkpointer.ts'
import type { CheckpointRef, HistoryOptions, StateAddress } from './agent.ts'
import { toJson } from './to-json.ts'

/** A state address as a checkpointer's config. */
export function configOf({
  threadId,
  checkpointId,
  checkpointNs = '',
}: Omit<StateAddress, 'checkpointer'>): CheckpointConfig {
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: checkpointNs,
      ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
    },
  }
}

/** A checkpoint's config as the reference that clients see. */
export function refOf({ configurable = {} }: CheckpointConfig): CheckpointRef {
  return {
    threadId: String(configurable.thread_id),
    checkpointId: String(configurable.checkpoint_id ?? ''),
    checkpointNs: String(configurable.checkpoint_ns ?? ''),
    checkpointMap: toJson(configurable.checkpoint_map) as Record<string, string> | null,
  }
}

/** Lists checkpoints like a checkpointer's `list`: the one at the address, or all in its namespace. */
type ReadList<T> = (at: StateAddress, options: CheckpointListOptions) => AsyncIterable<T | undefined>

/**
 * The history from an address, newest first. If the address has a checkpoint, earlier checkpoints follow in
 * the order of the checkpointer, because their ids may come from different clocks.
 */
export async function* historyOf<T>(
  at: StateAddress,
  { limit = Number.POSITIVE_INFINITY, before, filter }: HistoryOptions,
  read: ReadList<T>,
): AsyncGenerator<T, void, undefined> {
  let left = limit
  if (left <= 0) return
  const whole = { ...at, checkpointId: undefined }
  const end = before === undefined ? undefined : configOf({ ...at, checkpointId: before })
  const filtered = filter && { filter: { ...filter } }
  const parts: [StateAddress, CheckpointConfig | undefined][] =
    at.checkpointId !== undefined && (end === undefined || (await isBefore(at, end)))
      ? [
          [at, undefined],
          [whole, configOf(at)],
        ]
      : [[whole, end]]
  for (const [place, before] of parts) {
    const options = { ...(Number.isFinite(left) && { limit: left }), ...(before && { before }), ...filtered }
    for await (const item of read(place, options)) {
      if (item === undefined) continue
      yield item
      if (--left <= 0) return
    }
  }
}

async function isBefore(at: StateAddress, before: CheckpointConfig): Promise<boolean> {
  for await (const _ of at.checkpointer.list(configOf(at), { before, limit: 1 })) return true
  return false
}

export const listTuples = (at: StateAddress, options: HistoryOptions) =>
  historyOf(at, options, (place, query) => at.checkpointer.list(configOf(place), query))

/** The number of 100 ns steps from 15 October 1582, where UUID time begins, to 1970. */
const GREGORIAN = 122_192_928_000_000_000n
let newestTicks = 0n

/**
 * A UUID version 6 (RFC 9562 §5.6). The ids of this process increase. An id created with `after` is greater
 * than that id, even if it came from a machine with a fast clock.
 */
export function uuid6(after?: string): string {
  const clock = BigInt(Date.now()) * 10_000n + GREGORIAN
  newestTicks = clock > newestTicks ? clock : newestTicks + 1n
  const floor = after === undefined ? 0n : ticksOf(after) + 1n
  const ticks = (newestTicks > floor ? newestTicks : floor).toString(16).padStart(15, '0')
  // The variant and the random bits have the same positions as in version 4.
  return `${ticks.slice(0, 8)}-${ticks.slice(8, 12)}-6${ticks.slice(12)}${crypto.randomUUID().slice(18)}`
}

function ticksOf(id: string): bigint {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/.exec(id)
  return match ? BigInt(`0x${match[1]}${match[2]}${match[3]}`) : 0n
}
