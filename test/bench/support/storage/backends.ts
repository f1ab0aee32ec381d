import { BACKENDS, type Backend, type Database } from '../../../kit/backends.ts'

/**
 * Measures the databases, each on a server of its own. `BENCH_STORAGE=sqlite` or another name leaves the others out, and
 * so does a server that is not installed.
 */
export async function withBackends<Result>(
  use: (backend: Backend, database: Database) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const backend of BACKENDS) {
    if ((process.env.BENCH_STORAGE ?? backend.name) !== backend.name || !backend.installed()) continue
    const database = await backend.createDurable()
    try {
      results.push(await use(backend, database))
    } finally {
      await database.remove()
    }
  }
  return results
}
