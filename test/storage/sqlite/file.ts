import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A directory that goes when the tests of the file are over. Gives paths of files that do not exist yet. */
export function temporaryFiles(): () => string {
  const directory = mkdtempSync(join(tmpdir(), 'agentwire-sqlite-'))
  let count = 0
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return () => join(directory, `${count++}.db`)
}
