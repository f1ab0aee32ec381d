import { fileURLToPath } from 'node:url'
import { AgentwireError } from '../../errors.ts'
import type { SqliteDatabase } from './driver.ts'

interface DatabaseConstructor {
  new (path: string): SqliteDatabase
}

/** Not a literal, so that bundlers leave it alone: Node 20 has no such module. */
const BUILT_IN = 'node:sqlite'

/** Opens the file with what there is: `node:sqlite` of Node 22 and later, else the package `libsql`. */
export async function openFile(path: string): Promise<SqliteDatabase> {
  const Database = (await builtIn()) ?? (await libsql())
  return new Database(path)
}

async function builtIn(): Promise<DatabaseConstructor | undefined> {
  try {
    const { DatabaseSync } = (await import(/* @vite-ignore */ BUILT_IN)) as {
      DatabaseSync: DatabaseConstructor
    }
    return DatabaseSync
  } catch {
    // Older than Node 22.13.
    return undefined
  }
}

async function libsql(): Promise<DatabaseConstructor> {
  try {
    return (await import('libsql')).default as unknown as DatabaseConstructor
  } catch (cause) {
    throw new AgentwireError(
      'missing_package',
      'This runtime has no node:sqlite: install the package libsql, or pass a database of better-sqlite3.',
      { cause },
    )
  }
}

/** `file:` URLs and plain paths. What SQLite would keep in memory is refused: no second connection would see it. */
export function pathOf(url: string): string {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url.replace(/^file:/, '')
  if (path === '' || path.startsWith(':memory:')) {
    throw new AgentwireError(
      'invalid_argument',
      'sqliteStorage needs a file. For a store in memory use memoryStore and memoryCheckpointer.',
    )
  }
  if (/^[a-z][a-z0-9+.-]+:/i.test(path) || path.includes('?')) {
    throw new AgentwireError(
      'invalid_argument',
      'sqliteStorage takes a path or a file: URL without parameters.',
    )
  }
  return path
}
