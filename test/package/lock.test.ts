import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './package.ts'

interface Locked {
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const packages: Readonly<Record<string, Locked>> = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
).packages

test('the lock file knows the optional packages of every platform: `npm ci` refuses it otherwise', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
  )
  expect(missing).toEqual([])
})

// The package's link to itself, by which the examples import it, is resolved to the empty path.
test('the lock file names no registry', () => {
  expect(Object.keys(packages).filter((path) => packages[path]?.resolved)).toEqual([])
})

/** Whether a package is found from `path` upwards, where Node looks for it. */
function isLocked(path: string, name: string): boolean {
  const here = path === '' || path === '.' ? '' : `${path}/`
  if (`${here}node_modules/${name}` in packages) return true
  return here !== '' && isLocked(dirname(path), name)
}
