import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FoundSchemas } from './type-schemas.ts'

/** The schemas that were read last, and the files that they were read from. */
interface Kept {
  readonly key: string
  readonly hash: string
  readonly found: FoundSchemas
}

/** Files that say which packages a project has, and how it is compiled. */
const ABOUT = [
  'package.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'node_modules/.package-lock.json',
  'tsconfig.json',
]

/** Where tools keep what they can make again. */
const placeIn = (folder: string): string =>
  join(folder, 'node_modules', '.cache', 'agentwire-graph-types.json')

/**
 * Reads with `read`, unless no file has changed since the last time. The result is kept in
 * `node_modules/.cache` of the project. A folder that cannot be written only costs the time.
 *
 * @param asked What is read, and with which compiler.
 */
export async function keptTypes(
  folder: string,
  asked: unknown,
  read: () => Promise<FoundSchemas>,
): Promise<FoundSchemas> {
  const key = createHash('sha256').update(JSON.stringify(asked)).digest('hex')
  const kept = await readKept(folder)
  if (kept?.key === key && kept.hash === (await hashOf(folder, kept.found.files))) return kept.found
  const found = await read()
  const hash = await hashOf(folder, found.files)
  await writeKept(folder, { key, hash, found }).catch(() => {})
  return found
}

async function readKept(folder: string): Promise<Kept | undefined> {
  try {
    return JSON.parse(await readFile(placeIn(folder), 'utf8')) as Kept
  } catch {
    return undefined
  }
}

async function writeKept(folder: string, kept: Kept): Promise<void> {
  const place = placeIn(folder)
  // Without `recursive`, because a project in a workspace may have no `node_modules` of its own.
  await mkdir(dirname(place)).catch(() => {})
  // Servers of one project may write at the same time.
  const draft = `${place}.${process.pid}`
  await writeFile(draft, JSON.stringify(kept))
  await rename(draft, place)
}

async function hashOf(folder: string, files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of [...ABOUT.map((name) => join(folder, name)), ...files]) {
    const text = await readFile(file).catch(() => '')
    hash.update(`${file} ${text.length}\n`).update(text)
  }
  return hash.digest('hex')
}
