/** What a function runs with, and what reads its state: an interrupted run needs both when it is answered. */
export { attempt } from './attempt.ts'
export { changeOf, readInput, reduce } from './state.ts'
export { threadState } from './thread-state.ts'
