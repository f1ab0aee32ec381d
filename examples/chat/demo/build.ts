import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fingerprint } from './fingerprint.ts'
import { exclusively } from './lock.ts'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
export const APP = join(ROOT, 'examples/chat')
export const NEXT = createRequire(import.meta.url).resolve('next/dist/bin/next')

/** The library as the app finds it: in its own node_modules, as in a project of a user, so that Node loads it and Next bundles none of it. */
const LIBRARY = join(APP, 'node_modules/agentwire')

/** Of the library; the app's are these and its own. */
const SOURCES = [
  'src',
  'adapters',
  'cli',
  'rolldown.config.ts',
  'tsup.config.ts',
  'package.json',
  'package-lock.json',
]

/** The environment of Next: for next.config.ts, without telemetry, and whatever the launcher's own NODE_ENV is. */
export const nextEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_ENV: 'production',
  NEXT_TELEMETRY_DISABLED: '1',
  DEMO: '1',
})

/**
 * Builds what is not built yet from the sources as they are, and tells `say` what takes its time. Types are left out: the check of
 * the project has them. Rejects with all that a step has printed where it fails, and ends the step where the signal aborts.
 */
export function build(say: (line: string) => void, signal: AbortSignal): Promise<void> {
  return exclusively(join(APP, 'node_modules/.building'), signal, async () => {
    const library = fingerprint(SOURCES.map((path) => join(ROOT, path)))
    await unless(join(LIBRARY, '.fingerprint'), library, async () => {
      say('Building the library …')
      await buildLibrary(signal)
    })
    await unless(join(APP, '.next/.fingerprint'), library + fingerprint([APP]), async () => {
      say('Building the app, which takes a while the first time …')
      await run([NEXT, 'build', APP], { ...nextEnvironment(), STORAGE_URL: '' }, signal)
    })
  })
}

async function buildLibrary(signal: AbortSignal): Promise<void> {
  const packageFile = createRequire(import.meta.url).resolve('rolldown/package.json')
  const rolldown = join(packageFile, '../bin/cli.mjs')
  await run([rolldown, '-c', '--dir', join(LIBRARY, 'dist')], process.env, signal)
  // Editors and `tsc` find the types that `npm run build` makes.
  const description = readFileSync(join(ROOT, 'package.json'), 'utf8')
  writeFileSync(
    join(LIBRARY, 'package.json'),
    description.replaceAll('"types": "./dist/', '"types": "./types/'),
  )
  rmSync(join(LIBRARY, 'types'), { force: true })
  symlinkSync(join(ROOT, 'dist'), join(LIBRARY, 'types'), 'junction')
}

/** Does the work unless the file says that it was done for the same sources. */
async function unless(file: string, sources: string, work: () => Promise<void>): Promise<void> {
  if (existsSync(file) && readFileSync(file, 'utf8') === sources) return
  rmSync(file, { force: true })
  await work()
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, sources)
}

function run(args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, env, signal, stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(printed))))
  })
}
