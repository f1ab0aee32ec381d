import { createDelivery } from '../../src/core/egress/delivery.ts'
import { createJobs } from '../../src/storage/jobs/jobs.ts'
import { openStorage } from '../../src/storage/open.ts'

/** A process that works on jobs, until it is killed: each delivers the numbers up to a goal, from where it was saved. */
const { store } = await openStorage(process.env.STORAGE!)
const url = `http://127.0.0.1:${process.env.PORT}/`
const jobs = createJobs({
  store,
  report: (error) => console.error('reported', error),
  times: { claimMs: 1_000 },
})
jobs.register({
  count: {
    async handle({ id, data }, { deliver, save }) {
      const { to, sent = 0 } = data as { to: number; sent?: number }
      for (let at = sent + 1; at <= to; at++) {
        await deliver({ url, body: `${process.pid} ${id} ${at}` })
        await save({ to, sent: at })
      }
    },
    retry: { firstMs: 50, maxMs: 300_000, giveUpAfterMs: 86_400_000 },
    deliver: createDelivery({ allowLoopback: true }),
  },
})
jobs.wake()
setInterval(() => {}, 60_000)
console.log('ready')
