/**
 * What few servers call, loaded with the first call. It is one module, because each module that is loaded on demand
 * splits the shared chunks that an import of `agentwire` loads.
 */
export { checkpointBefore } from './answers/checkpoint-before.ts'
export { listOwnAnswers, untilAnswered } from './answers/lists.ts'
export { readSnapshot } from './answers/snapshot.ts'
export { patchState } from './mutations/patch-state.ts'
export { readTree } from './threads/tree.ts'
