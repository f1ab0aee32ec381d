/** What a server does with crons once it has some. It is loaded when one is made, asked for or due. */
export { deleteCron, patchCron, postCron } from './endpoints.ts'
export { finishRun } from './finish.ts'
export { fireCron } from './fire.ts'
export { getCronCount, searchCrons } from './search.ts'
export { startCronRun } from './start.ts'
