/**
 * Installs what only some commands need: `node .ci/installed.mjs docs .ci/tools`. Each folder has a `package.json`, a lock file and
 * packages of its own, which are installed if they are missing or older than the lock file. Their peers are those of the project.
 */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Every folder with packages of its own, from the root of the project. */
export const FOLDERS = ['.ci/tools', 'docs', 'test/vendors']

/** @param {readonly string[]} folders */
export function install(folders = FOLDERS) {
  for (const folder of folders) {
    const cwd = join(ROOT, folder)
    if (timeOf(join(cwd, 'node_modules/.package-lock.json')) > timeOf(join(cwd, 'package-lock.json')))
      continue
    console.log(`Installing the packages of ${folder}.`)
    const { status, error } = spawnSync('npm', ['ci', '--loglevel=error'], { cwd, stdio: 'inherit' })
    if (error) throw error
    if (status !== 0) throw new Error(`npm ci in ${folder} ended with code ${status}.`)
  }
}

/**
 * When a file was changed; 0 if there is none.
 * @param {string} path
 */
const timeOf = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const named = process.argv.slice(2)
  install(named.length > 0 ? named : FOLDERS)
}
