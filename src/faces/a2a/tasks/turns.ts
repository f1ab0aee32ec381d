import { toJson } from '../../../agents/to-json.ts'
import { listAll } from '../../../storage/store/pages.ts'
import type { Json, Op, Store } from '../../../storage/store/store.ts'
import type { A2AMessage } from '../model.ts'

/**
 * A question of a task and its answer. The agent only gets the answer, and need not keep either in its
 * messages.
 */
export interface AnsweredQuestion {
  readonly taskId: string
  /** The last message of the state when the task asked. Null if there was none. */
  readonly after: string | null
  readonly question: Pick<A2AMessage, 'messageId' | 'parts'>
  readonly answer: Pick<A2AMessage, 'messageId' | 'parts' | 'metadata'>
}

const COLLECTION = 'a2a_answers'

/** Stores an answer with its question, in the commit of the run that takes it. */
export const putAnswered = (runId: string, answered: AnsweredQuestion): Op => ({
  op: 'put',
  collection: COLLECTION,
  id: runId,
  value: toJson(answered) as Json,
  index: { task: answered.taskId },
})

/**
 * The answered questions of a task, or of all tasks of the thread, in the order in which they were answered.
 */
export async function loadAnswered(
  store: Store,
  threadId: string,
  taskId: string | undefined,
): Promise<readonly AnsweredQuestion[]> {
  const query = { partition: threadId, ...(taskId !== undefined && { where: { task: taskId } }) }
  const docs = await listAll(store, COLLECTION, query)
  return docs.map(({ value }) => value as unknown as AnsweredQuestion)
}
