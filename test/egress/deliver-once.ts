import { createDelivery } from '../../src/core/egress/delivery.ts'

/** Posts to each of the URLs, all of whose names are on loopback, and prints what came of it. */
const deliver = createDelivery({ allowLoopback: true, lookup: async () => ['127.0.0.1'] })
for (const url of process.env.URLS!.split(' '))
  console.log(
    await deliver({ url, body: '' }).then(
      ({ status }) => status,
      ({ code, message }) => `${code}: ${/[A-Z_]{5,}/.exec(message)?.[0]}`,
    ),
  )
