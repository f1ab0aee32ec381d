import { perThread } from './per-thread.ts'

/** The scroll positions of conversations. A thread scrolled to its end has none. */
export const positions = perThread<number>('positions')
