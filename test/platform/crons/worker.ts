import { startCronRun } from '../../../src/faces/rest/crons/fire.ts'
import { cronJobs } from '../../../src/faces/rest/face.ts'
import { createWebhooks } from '../../../src/faces/rest/runs/webhooks.ts'
import { createAgentEngine, defineAgent } from '../../../src/index.ts'
import { createJobs } from '../../../src/storage/jobs/jobs.ts'
import { openStorage } from '../../../src/storage/open.ts'

/** A process that starts runs of crons until it is killed. With `HANGS` it has started them, but never comes to note them. */
const { store, checkpointer } = await openStorage(process.env.STORAGE!)
const agent = defineAgent({
  async run({ run }) {
    console.log(`run ${run.id}`)
  },
})
const onError = (error: unknown) => console.error('reported', error)
const engine = createAgentEngine({ agents: { agent }, store, checkpointer, leaseTtlMs: 1_000, onError })
const start = startCronRun({
  engine,
  authorize: undefined,
  onError,
  webhooks: createWebhooks(engine, {}),
})
const crons = createJobs({ store, report: onError, times: { claimMs: 1_000 } })
crons.register(
  cronJobs({
    engine,
    onError,
    async startRun(cron, run) {
      const started = await start(cron, run)
      console.log(`started ${cron.cronId}`)
      if (process.env.HANGS) await new Promise(() => {})
      return started
    },
  }),
)
crons.wake()
setInterval(() => {}, 60_000)
console.log('ready')
