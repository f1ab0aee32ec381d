import { listTuples } from '../../checkpointer/list-tuples.ts'
import type { Fence, SavedAt, SaverTables } from '../../checkpointer/saver.ts'
import { FencedError } from '../../errors.ts'
import { type Database, type Row, readNumbers } from '../database.ts'
import { keyOf, namesOf } from '../text.ts'
import { encodeCheckpoint, encodeWrites } from './checkpoint-rows.ts'
import { ancestorsOf } from './history.ts'
import { rowsOf } from './list-tuples.ts'
import { type Address, loadTuples } from './tuples.ts'

export function createTables(database: Database): SaverTables {
  const { of } = database.names

  /** Calls a function that checks the fence first. */
  async function write(fence: Fence | undefined, call: string, ...values: unknown[]): Promise<Row> {
    const places = values.map((_, i) => `$${i + 3}`)
    const [row] = await database.run({
      text: `SELECT * FROM ${of(call)}($1, $2, ${places})`,
      values: [fence ? keyOf(fence.partition) : null, fence?.token ?? null, ...values],
      mutates: true,
    })
    if (row!.fenced === 't') {
      throw new FencedError(`The lease of ${fence!.partition} is no longer held with this token.`)
    }
    return row!
  }

  return {
    load: async (serde, at) => (await loadTuples(database, serde, [addressAt(at)]))[0],
    list: (serde, config, options) => listTuples(rowsOf(database, serde), config, options),
    async put(serde, fence, { threadId, namespace, parentId, checkpoint, metadata, isNew, latest }) {
      const names = [threadId, namespace, checkpoint.id, parentId] as const
      const keys = names.map((name) => (name === undefined ? null : keyOf(name)))
      const encoded = await encodeCheckpoint(serde, checkpoint, metadata, isNew)
      const { head, changed, carried, carriedChannels, data } = encoded
      const values = [...keys, namesOf(...names), head, changed, carried, latest, data]
      const row = await write(fence, 'put_checkpoint', ...values)
      return readNumbers(row.ambiguous!).map((place) => carriedChannels[place]!)
    },
    async putWrites(serde, fence, { threadId, namespace, checkpointId, taskId, writes }) {
      const encoded = await encodeWrites(serde, writes)
      const keys = [threadId, namespace, checkpointId, taskId].map(keyOf)
      await write(fence, 'put_writes', ...keys, namesOf(taskId), encoded.writes, encoded.data)
    },
    async deleteThread(threadId) {
      const [checkpoints, values, writes] = ['checkpoints', 'channel_values', 'writes'].map(of)
      await database.run({
        text: `WITH c AS (DELETE FROM ${checkpoints} WHERE thread_id = $1),
            v AS (DELETE FROM ${values} WHERE thread_id = $1)
          DELETE FROM ${writes} WHERE thread_id = $1`,
        values: [keyOf(threadId)],
        mutates: true,
      })
    },
    ancestors: (serde, at, channels) => ancestorsOf(database, serde, addressAt(at), channels),
  }
}

function addressAt({ threadId, namespace, checkpointId }: SavedAt): Address {
  return [keyOf(threadId), keyOf(namespace), checkpointId === undefined ? null : keyOf(checkpointId)]
}
