import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The name of the instance that owns a folder of sources and builds. It is created once and stored in the
 * folder.
 */
export function instanceIn(dir: string): string {
  const file = join(dir, 'instance')
  mkdirSync(dir, { recursive: true })
  try {
    writeFileSync(file, crypto.randomUUID(), { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8')
}
