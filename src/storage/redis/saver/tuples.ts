import type { Checkpoint, CheckpointTuple } from '../../checkpointer/checkpointer.ts'
import { addPendingSends, configOf, TASKS } from '../../checkpointer/config.ts'
import type { Serde } from '../../checkpointer/serde.ts'
import type { PendingWrite } from '../../memory/checkpoints.ts'
import type { Database } from '../database.ts'
import { toUtf8 } from '../store/entries.ts'
import {
  channelOf,
  type KeptWrite,
  readCheckpoint,
  readWrites,
  revive,
  reviveBody,
  reviveMetadata,
} from './blobs.ts'
import { LOAD } from './scripts-saver.ts'

/** A checkpoint as it is kept. Without a body it is not there, but may have writes. */
interface Found {
  readonly checkpoint: string
  readonly body: Uint8Array | undefined
  readonly parent: string | undefined
  /** The number of the value of each channel, 0 where it has none. */
  readonly cells: ReadonlyMap<string, number>
  readonly writes: readonly KeptWrite[]
}

/** `c` and a checkpoint, or `n` and a namespace for the newest of it. */
export type Asked = string

/** The tuples that were asked for, in their order, without those that are not there. */
export async function loadTuples(
  database: Database,
  serde: Serde,
  threadId: string,
  asked: readonly Asked[],
): Promise<CheckpointTuple[]> {
  const { found, values } = await load(database, threadId, asked)
  return Promise.all(
    found.flatMap((kept) => (kept.body ? [toTuple(database, serde, threadId, kept, kept.body, values)] : [])),
  )
}

async function load({ run, keys }: Database, threadId: string, asked: readonly Asked[]) {
  const [found, flat] = (await run({ script: LOAD, keys: keys.thread(threadId), args: asked })) as [
    [Uint8Array, Uint8Array | 0, [Uint8Array, ...(Uint8Array | number)[]] | 0, Uint8Array[]][],
    (number | Uint8Array)[],
  ]
  const values = new Map<number, Uint8Array>()
  for (let i = 0; i < flat.length; i += 2) values.set(flat[i] as number, flat[i + 1] as Uint8Array)
  return {
    values,
    found: found.map(([checkpoint, body, cells, writes]): Found => {
      return {
        checkpoint: toUtf8(checkpoint),
        body: body === 0 ? undefined : body,
        ...readCells(cells === 0 ? undefined : cells),
        writes: readWrites(writes),
      }
    }),
  }
}

/** The parent or '', then `version, number` of each channel. */
export function readCells(flat: readonly (Uint8Array | number)[] | undefined) {
  const cells = new Map<string, number>()
  if (!flat) return { parent: undefined, cells }
  for (let i = 1; i < flat.length; i += 2) {
    cells.set(channelOf(toUtf8(flat[i] as Uint8Array)), flat[i + 1] as number)
  }
  return { parent: toUtf8(flat[0] as Uint8Array) || undefined, cells }
}

async function toTuple(
  database: Database,
  serde: Serde,
  threadId: string,
  { checkpoint: address, parent, cells, writes }: Found,
  body: Uint8Array,
  values: ReadonlyMap<number, Uint8Array>,
): Promise<CheckpointTuple> {
  const rest = await reviveBody(serde, body)
  const entries = Object.keys(rest.channel_versions).map(async (channel) => {
    const blob = values.get(cells.get(channel) ?? 0)
    return blob && ([channel, await revive(serde, blob)] as const)
  })
  const given = (await Promise.all(entries)).filter((entry) => entry !== undefined)
  const checkpoint: Checkpoint = { ...rest, channel_values: Object.fromEntries(given) }
  if (checkpoint.v < 4 && parent !== undefined) {
    const { found } = await load(database, threadId, [`c${parent}`])
    const sends = found[0]!.writes.filter(({ channel }) => channel === TASKS)
    addPendingSends(checkpoint, await Promise.all(sends.map(({ blob }) => revive(serde, blob))))
  }
  return {
    config: configOf(threadId, ...readCheckpoint(address)),
    checkpoint,
    metadata: await reviveMetadata(serde, body),
    pendingWrites: await reviveWrites(serde, writes),
    ...(parent !== undefined && { parentConfig: configOf(threadId, ...readCheckpoint(parent)) }),
  }
}

export function reviveWrites(serde: Serde, writes: readonly KeptWrite[]): Promise<PendingWrite[]> {
  return Promise.all(
    writes.map(
      async ({ taskId, channel, blob }): Promise<PendingWrite> => [
        taskId,
        channel,
        await revive(serde, blob),
      ],
    ),
  )
}
