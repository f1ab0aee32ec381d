import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Installs packages into a folder of their own, so that the lock file of the project stays as it is. All other packages come as
 * links, so peers are not installed. Gives false where npm fails.
 *
 * @param {string} folder
 * @param {Readonly<Record<string, string>>} dependencies
 * @param {Readonly<Record<string, string>>} overrides Those of which there must be one copy.
 */
export function install(folder, dependencies, overrides = dependencies) {
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies, overrides }),
  )
  const npm = ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error']
  if (run('npm', npm, folder) !== 0) return false
  linkOthers(folder)
  return true
}

/** @param {string} folder */
function linkOthers(folder) {
  const packages = join(ROOT, 'node_modules')
  const names = readdirSync(packages).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(packages, name)).map((inner) => `${name}/${inner}`) : [name],
  )
  for (const name of names) {
    const place = join(folder, 'node_modules', name)
    if (existsSync(place)) continue
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(packages, name), place)
  }
}

/**
 * @param {string} folder
 * @param {string} name
 */
export function versionOf(folder, name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} [env]
 */
export function run(command, args, cwd, env = process.env) {
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: 'inherit' })
  if (error) throw error
  return status ?? 1
}

/**
 * Copies what tests need beside packages. The packages of the guides come as a link where they are installed.
 *
 * @param {string} folder
 */
export function copySources(folder) {
  for (const name of [
    'src',
    'adapters',
    'test',
    'examples',
    'docs',
    'skills',
    'README.md',
    'package.json',
    'tsconfig.json',
    '.ci/installed.mjs',
    '.ci/pages.ts',
    'vitest.config.ts',
  ])
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      // Otherwise the copied lock file is newer than the packages, which are installed again through the link.
      preserveTimestamps: true,
      filter: (path) => !path.includes('/node_modules') && !path.includes('/.next'),
    })
  const guides = join(ROOT, 'docs/node_modules')
  if (existsSync(guides)) symlinkSync(guides, join(folder, 'docs/node_modules'))
}
