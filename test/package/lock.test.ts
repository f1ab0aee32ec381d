import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FOLDERS } from '../../.ci/installed.mjs'
import { root } from './package.ts'

interface Locked {
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** The project, and the folders whose packages only some commands install. */
const LOCKS = ['.', ...FOLDERS].map((folder) => ({
  folder,
  packages: JSON.parse(readFileSync(join(root, folder, 'package-lock.json'), 'utf8')).packages as Readonly<
    Record<string, Locked>
  >,
}))

describe.each(LOCKS)('the lock file of $folder', ({ packages }) => {
  test('knows the optional packages of every platform: `npm ci` refuses it otherwise', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter((name) => !isLocked(packages, path, name)),
    )
    expect(missing).toEqual([])
  })

  // The package's link to itself, by which the examples import it, is resolved to the empty path.
  test('names no registry', () => {
    expect(Object.keys(packages).filter((path) => packages[path]?.resolved)).toEqual([])
  })
})

/** Whether a package is found from `path` upwards, where Node looks for it. */
function isLocked(packages: Readonly<Record<string, Locked>>, path: string, name: string): boolean {
  const here = path === '' || path === '.' ? '' : `${path}/`
  if (`${here}node_modules/${name}` in packages) return true
  return here !== '' && isLocked(packages, dirname(path), name)
}
