import { server } from './server.ts'

// `next start` leaves the signals to this with NEXT_MANUAL_SIG_HANDLE=1: runs are handed over and streams end before the process does.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    // A database that is away must not keep the process: others take its runs over when their leases end.
    setTimeout(() => process.exit(1), 10_000).unref()
    server.close().then(
      () => process.exit(0),
      (error) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
