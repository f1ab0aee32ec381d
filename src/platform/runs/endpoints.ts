/** What the routes of runs do. It is loaded with the first of them that is called. */
export { namedRun, postBatch, postRun, postRunAndWait } from './create.ts'
export { cancelRuns, deleteRun, getRun, getRuns, joinRun, namedInBody } from './records.ts'
