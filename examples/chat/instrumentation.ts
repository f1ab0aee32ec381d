/**
 * Next calls this once when it starts, before the first request. The agents' server starts with it, so that it takes up runs of
 * processes that are gone.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') await import('./server/shutdown.ts')
}
