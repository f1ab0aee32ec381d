/** What of crons is loaded with the first request or date of one: most servers have none. */
export { deleteCron, patchCron, postCron } from './endpoints.ts'
export { finishRun } from './finish.ts'
export { fireCron } from './fire.ts'
export { getCronCount, searchCrons } from './search.ts'
