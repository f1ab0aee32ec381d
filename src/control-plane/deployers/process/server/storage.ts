import { mkdirSync } from 'node:fs'
// As a namespace, since the beginning of bundles often imports `createRequire`.
import * as modules from 'node:module'
import { join } from 'node:path'
import type { Dirs } from '../dirs.ts'

/**
 * The storage of a deployment that names none: a file of its own, so that a new revision knows the threads of
 * the one before. Nothing where the client of SQLite is not installed.
 */
export function defaultStorage(dirs: Dirs, deploymentId: string): { readonly STORAGE_URL?: string } {
  if (!isInstalled('libsql')) return {}
  const folder = dirs.data(deploymentId)
  mkdirSync(folder, { recursive: true })
  return { STORAGE_URL: `file:${join(folder, 'threads.db')}` }
}

function isInstalled(name: string): boolean {
  try {
    // In the CommonJS build there is no `import.meta`.
    modules.createRequire(typeof __filename === 'string' ? __filename : import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
