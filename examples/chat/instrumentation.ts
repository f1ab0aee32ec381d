/**
 * Next calls this once when it starts, before the first request. It starts the agents' server, which takes
 * over the runs of processes that have ended.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') await import('./server/shutdown.ts')
}
