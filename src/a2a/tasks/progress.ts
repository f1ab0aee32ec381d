import { isTaskEnded } from '../../runs/index.ts'
import type { FoundTask } from './present.ts'

/** Whether a task has ended or asks. */
export const isSettled = ({ record }: FoundTask): boolean =>
  isTaskEnded(record) || record.state === 'input-required'

/** The run of a task at work that ends next. */
export function nextEnd({ thread, record: { runIds } }: FoundTask): string {
  const { activeRunId, queue } = thread
  const atWork = [activeRunId, ...queue.map(({ runId }) => runId)]
  return atWork.find((runId) => runId !== null && runIds.includes(runId)) ?? runIds.at(-1)!
}
