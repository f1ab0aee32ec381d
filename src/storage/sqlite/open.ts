import { fileURLToPath } from 'node:url'
import { AgentwireError } from '../../core/errors.ts'
import type { SqliteDatabase } from './connection.ts'

interface DatabaseConstructor {
  new (path: string): SqliteDatabase
}

/** Opens the file with `node:sqlite` in Node 22 or newer, otherwise with the package `libsql`. */
export async function openFile(path: string): Promise<SqliteDatabase> {
  const Database = builtIn() ?? (await libsql())
  return new Database(path)
}

/** Undefined before Node 22.13. Not an import, which would fail there and which bundlers would follow. */
function builtIn(): DatabaseConstructor | undefined {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite') as
    | { readonly DatabaseSync: DatabaseConstructor }
    | undefined
  return sqlite?.DatabaseSync
}

async function libsql(): Promise<DatabaseConstructor> {
  try {
    return (await import('libsql')).default as unknown as DatabaseConstructor
  } catch (cause) {
    throw new AgentwireError(
      'missing_package',
      'This runtime has no node:sqlite: npm install libsql, or pass sqliteStorage a database from better-sqlite3.',
      { cause },
    )
  }
}

/**
 * Accepts `file:` URLs and plain paths. Rejects databases in memory, which a second connection would not see.
 */
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
