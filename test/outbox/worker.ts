import { createDelivery } from '../../src/outbox/delivery/delivery.ts'
import { createOutbox } from '../../src/outbox/outbox.ts'
import { openStorage } from '../../src/storage/open.ts'

/** A process that works on jobs, until it is killed: each delivers the numbers up to a goal, from where it was saved. */
const { store } = await openStorage(process.env.STORAGE!)
const url = `http://127.0.0.1:${process.env.PORT}/`
createOutbox({
  store,
  handlers: {
    async count({ id, data }, { deliver, save }) {
      const { to, sent = 0 } = data as { to: number; sent?: number }
      for (let at = sent + 1; at <= to; at++) {
        await deliver({ url, body: `${process.pid} ${id} ${at}` })
        await save({ to, sent: at })
      }
    },
  },
  deliver: createDelivery({ allowLoopback: true }),
  report: (error) => console.error('reported', error),
  times: { claimMs: 1_000, retryMs: 50 },
}).wake()
setInterval(() => {}, 60_000)
console.log('ready')
