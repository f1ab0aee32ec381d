import type { Committed, Op, Store } from '../../storage/store/store.ts'
import {
  type AnswerRecord,
  type HeldRecords,
  loadAnswer,
  type RunRecord,
  type RunRecords,
  readAnswer,
  readRun,
  readThread,
  type ThreadRecord,
  versioned,
} from './records.ts'

export function writtenRecords(store: Store, { threadId, runId, task }: RunRecord): HeldRecords {
  let held: RunRecords | undefined

  async function read(): Promise<RunRecords | undefined> {
    const { docs } = await store.inspect(threadId, [
      { collection: 'threads', id: threadId },
      { collection: 'runs', id: runId },
      ...(task ? [{ collection: 'answers', id: task.taskId }] : []),
    ])
    const thread = versioned(docs[0], readThread)
    if (!thread) return undefined
    const run = versioned(docs[1], readRun)
    // A run can become part of an answer while it executes.
    const adopted = !task && run?.record.task
    const answer = adopted
      ? await loadAnswer(store, threadId, adopted.taskId)
      : versioned(docs[2], readAnswer)?.record
    return { thread, run, answer }
  }

  function after(
    before: RunRecords | undefined,
    ops: readonly Op[],
    committed: Committed,
  ): RunRecords | undefined {
    const versions = committed.versions.values()
    let { thread, run, answer }: Partial<RunRecords> = before ?? {}
    for (const op of ops) {
      if (op.op === 'delete' && op.collection === 'runs' && op.id === runId) run = undefined
      if (op.op !== 'put') continue
      const { collection, id, value } = op
      const version: number = versions.next().value!
      // Records in the form of this version, as passed to the commit.
      const record: unknown = value
      if (collection === 'threads') thread = { record: record as ThreadRecord, version }
      else if (collection === 'runs' && id === runId) run = { record: record as RunRecord, version }
      else if (collection === 'answers' && id === task?.taskId) answer = record as AnswerRecord
    }
    return thread && { thread, run, answer }
  }

  return {
    get: async () => (held ??= await read()),
    known: () => held,
    async commit(ops, write) {
      const before = held
      held = undefined
      const committed = await write(ops)
      if (committed) held = after(before, ops, committed)
      return committed
    },
  }
}
