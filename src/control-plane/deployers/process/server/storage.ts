import { mkdirSync } from 'node:fs'
// A namespace import, because bundles often start with an import of `createRequire`.
import * as modules from 'node:module'
import { join } from 'node:path'
import type { Dirs } from '../dirs.ts'

/**
 * The default storage of a deployment: its own file, so that a new revision has the threads of the previous
 * one. Empty if the SQLite client is not installed.
 */
export function defaultStorage(dirs: Dirs, deploymentId: string): { readonly STORAGE_URL?: string } {
  if (!isInstalled('libsql')) return {}
  const folder = dirs.data(deploymentId)
  mkdirSync(folder, { recursive: true })
  return { STORAGE_URL: `file:${join(folder, 'threads.db')}` }
}

function isInstalled(name: string): boolean {
  try {
    // The CommonJS build has no `import.meta`.
    modules.createRequire(typeof __filename === 'string' ? __filename : import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
