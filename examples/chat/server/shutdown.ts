import { server } from './server.ts'

// With NEXT_MANUAL_SIG_HANDLE=1, `next start` leaves the signals to this handler: runs are handed over and
// streams end before the process does.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    // An unavailable database must not keep the process alive: other processes take over its runs when their
    // leases expire.
    setTimeout(() => process.exit(1), 10_000).unref()
    server.close().then(
      () => process.exit(0),
      (error) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
