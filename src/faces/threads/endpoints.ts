/** The endpoints of threads that are not about runs. Loaded with the first one that is called. */
export { getTree, listCheckpoints, stateGet } from './commands/state.ts'
export {
  copyThread,
  deleteThread,
  getThread,
  getThreads,
  namedThread,
  patchThread,
  postThread,
  pruneThreads,
} from './records.ts'
export { countThreads, searchThreads } from './search.ts'
export { getHistory, getState, patchState, postCheckpointState, postHistory, postState } from './state.ts'
