import { isTaskEnded } from '../../runs/index.ts'
import type { FoundTask } from './present.ts'

/** Whether a task has ended or asks. */
export const isSettled = ({ record }: FoundTask): boolean =>
  isTaskEnded(record) || record.state === 'input-required'

/** The run of a task at work that ends next. */
export const nextEnd = ({ record: { runIds, openRunIds } }: FoundTask): string =>
  openRunIds[0] ?? runIds.at(-1)!
