import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Output of a build, which is not a source. */
const MADE = ['node_modules', '.next', '.tmp', 'next-env.d.ts']

/** A text that is the same as long as these files, and all files in these folders, are unchanged. */
export function fingerprint(paths: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of paths.flatMap(filesOf)) hash.update(file).update('\0').update(readFileSync(file))
  return hash.digest('hex')
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .filter((name) => !MADE.includes(name) && !name.endsWith('.tsbuildinfo'))
    .sort()
    .flatMap((name) => filesOf(join(path, name)))
}
