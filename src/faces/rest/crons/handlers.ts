/** The code for crons. It is loaded when a cron is created, requested or due. */
export { deleteCron, namedCron, patchCron, postCron } from './endpoints.ts'
export { finishRun, fireCron, startCronRun } from './fire.ts'
export { getCronCount, searchCrons } from './search.ts'
