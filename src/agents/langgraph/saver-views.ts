import { eventLoopTurns, sleep } from '../../core/time.ts'
import type { CheckpointConfig, Checkpointer } from '../../storage/checkpointer/checkpointer.ts'
import { CALLS, onCalls, overlay, type SaverHook } from '../../storage/checkpointer/hooks.ts'
import { reviving, type Serde } from '../../storage/checkpointer/serde.ts'
import { FencedError } from '../../storage/errors.ts'

/**
 * LangGraph requests the next version of a channel from its checkpointer, which our contract does not
 * require.
 */
export function withVersions(checkpointer: Checkpointer): Checkpointer {
  if ('getNextVersion' in checkpointer) return checkpointer
  const next = (version: number | undefined): number => (version ?? 0) + 1
  return overlay(checkpointer, () => ({ getNextVersion: next }) as Partial<Checkpointer>)
}

/**
 * Writes never fail. The first failure is passed to `onFailure`, which must stop the run; later writes are
 * dropped. LangGraph awaits its writes only at the end of the run, and Node ends the process for an unhandled
 * rejection. A checkpoint that was refused, because the lease had expired or clients had not seen it yet, is
 * written before its child if that is accepted: no checkpoint lacks its parent.
 */
export function captureWriteErrors(onFailure: (error: unknown) => void): SaverHook {
  let failed = false
  /** The writes of checkpoints that are not saved, by id. */
  const refused = new Map<string, () => Promise<void>>()
  const attempt = async (write: () => Promise<unknown>): Promise<void> => {
    if (failed) return
    try {
      await write()
    } catch (error) {
      if (!failed) onFailure(error)
      // A stopped run may still write the steps that clients have seen.
      failed = !(error instanceof FencedError)
    }
  }
  return {
    async put(put, ...args) {
      const [{ configurable }, checkpoint] = args
      const parentId = String(configurable?.checkpoint_id)
      const writeParent = refused.get(parentId)
      const write = async (): Promise<void> => {
        refused.set(checkpoint.id, write)
        if (refused.has(parentId)) await writeParent?.()
        await put(...args)
        refused.delete(checkpoint.id)
      }
      await attempt(write)
      const { thread_id, checkpoint_ns = '' } = { ...configurable }
      return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } }
    },
    putWrites: (putWrites, ...args) => attempt(() => putWrites(...args)),
  }
}

/**
 * Waits one turn of the event loop before the run fails: at the error of a task, and at the last steps before
 * `recursionLimit`. When it fails, LangGraph drops what its stream still holds, such as the end of a message
 * and the last values, but it waits for pending writes first.
 */
export function delayFailure(recursionLimit: number): SaverHook {
  let steps = 0
  const isLast = ({ configurable }: CheckpointConfig) =>
    !configurable?.checkpoint_ns && ++steps > recursionLimit
  return {
    async put(put, ...args) {
      const stored = await put(...args)
      if (isLast(args[0])) await sleep(0)
      return stored
    },
    async putWrites(putWrites, ...args) {
      await putWrites(...args)
      if (args[1].some(([channel]) => channel === '__error__')) await sleep(0)
    },
  }
}

/** Adds failures to `failures`, to distinguish them from errors in the values of an update. */
export const rememberFailures = (failures: Set<unknown>): SaverHook =>
  onCalls(CALLS, (call) => {
    const result = call()
    if (result instanceof Promise) result.catch((error: unknown) => failures.add(error))
    return result
  })

/** Lets the event loop turn between many steps, also if the checkpointer responds immediately. */
export function withTurns(): SaverHook {
  const turn = eventLoopTurns()
  return {
    async put(put, ...args) {
      const stored = await put(...args)
      await turn()
      return stored
    },
  }
}

let loaded: Promise<Serde> | undefined

/** LangGraph's own serializer, loaded when there is something to revive. */
function langgraphSerde(): Promise<Serde> {
  loaded ??= import('@langchain/langgraph').then(({ MemorySaver }) => new MemorySaver().serde)
  return loaded
}

/** `jsonSerde` that revives LangChain objects as instances, if LangChain knows their class. */
export const langchainSerde: Serde = reviving(async (record) => {
  const serde = await langgraphSerde()
  try {
    return await serde.loadsTyped('json', JSON.stringify(record))
  } catch {
    // The class is unknown, or the data only look like a record. The state must stay readable in both cases.
    return record
  }
})
