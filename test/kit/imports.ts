import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import tsconfig from '../../tsconfig.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The files behind the names of the package's entries. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = tsconfig.compilerOptions.paths
/** Imports, exports from another file, and imports on demand. Types alone change no test. */
const IMPORT = /^(?:import|export)\b(?! type)[^'"]*?'([^']+)'|\bimport\(\s*'([^']+)'/gm

const texts = new Map<string, string>()
const imports = new Map<string, readonly string[]>()

/** The text of a file of the project, by its path from the root. */
export function textOf(path: string): string {
  const known = texts.get(path)
  if (known !== undefined) return known
  const text = readFileSync(join(ROOT, path), 'utf8')
  texts.set(path, text)
  return text
}

/** The files of the project that a file imports, by their paths from the root. */
export function importsOf(path: string): readonly string[] {
  const known = imports.get(path)
  if (known) return known
  const found = /\.(?:[jt]sx?|mjs)$/.test(path)
    ? [...textOf(path).matchAll(IMPORT)].flatMap(([, first, second]) => fileOf(path, first ?? second ?? ''))
    : []
  imports.set(path, found)
  return found
}

/** The file and all that it imports, directly or through others, as far as `follows` goes on from one to the next. */
export function closureOf(
  file: string,
  follows: (to: string, from: string) => boolean = () => true,
): ReadonlySet<string> {
  const found = new Set([file])
  // A set gives what is added to it while it is read.
  for (const from of found) for (const to of importsOf(from)) if (follows(to, from)) found.add(to)
  return found
}

function fileOf(from: string, name: string): string[] {
  const path = name.startsWith('.')
    ? relative(ROOT, join(ROOT, dirname(from), name))
    : ENTRIES[name]?.[0]?.slice('./'.length)
  return path !== undefined && existsSync(join(ROOT, path)) ? [path] : []
}
