import { AgentwireError } from '../../core/errors.ts'
import { openStorage, withoutPassword } from '../../storage/open.ts'
import { explain, findingsOf } from '../report.ts'
import type { Terminal } from '../terminal.ts'
import type { Check } from './check.ts'

const VARIABLES = ['STORAGE_URL', 'DATABASE_URL', 'REDIS_URL']

/** Checks each database that the environment names. */
export async function databaseChecks(env: Terminal['env']): Promise<readonly Check[]> {
  const named = VARIABLES.filter((name) => env[name])
  const checks = await Promise.all(named.map((name) => databaseCheck(name, env[name]!)))
  if (named.length > 0) return checks.flat()
  const text = `None of ${VARIABLES.join(', ')} is set, here or in .env. Unless your code opens a database, the threads are lost when the process ends.`
  return [{ check: 'storage', level: 'warning', text }]
}

async function databaseCheck(name: string, url: string): Promise<readonly Check[]> {
  const where = `${name} (${withoutPassword(url)})`
  try {
    const storage = await openStorage(url)
    try {
      const findings = findingsOf(await storage.report())
      return findings.map(({ level, text }) => ({ check: 'storage', level, text: `${where}: ${text}` }))
    } finally {
      await storage.close()
    }
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    return [{ check: 'storage', level: 'problem', text: `${where}: ${explain(error)}` }]
  }
}
