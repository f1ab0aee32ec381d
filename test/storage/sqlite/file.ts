import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { databaseFolder } from '../../kit/folder.ts'

/** A directory that goes when the tests of the file are over. Gives paths of files that do not exist yet. */
export function temporaryFiles(): () => string {
  const directory = databaseFolder()
  let count = 0
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return () => join(directory, `${count++}.db`)
}
