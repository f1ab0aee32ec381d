/** The endpoints of runs. They are loaded with the first request to one of them. */
export { namedRun, postBatch, postRun, postRunAndWait } from './create.ts'
export { cancelRuns, deleteRun, getRun, getRuns, joinRun, namedInBody } from './records.ts'
