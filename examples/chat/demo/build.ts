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

/**
 * The library where the app finds it: in its own node_modules, as in a user's project, so that Node loads it
 * and Next does not bundle it.
 */
const LIBRARY = join(APP, 'node_modules/agentwire')

/** The library's sources. The app's are these and its own. */
const SOURCES = [
  'src',
  'adapters',
  '.ci/entries.mjs',
  '.ci/pages.ts',
  '.ci/rolldown.config.ts',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
]

/**
 * The environment of Next: for next.config.ts, without telemetry, and independent of the launcher's NODE_ENV.
 */
export const nextEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_ENV: 'production',
  NEXT_TELEMETRY_DISABLED: '1',
  DEMO: '1',
})

/**
 * Builds what is out of date, and reports slow steps and their time to `say`. Types are not checked here, because the
 * project's check does that. If a step fails, it rejects with the step's output. If the signal aborts, it
 * ends the step.
 */
export function build(say: (line: string) => void, signal: AbortSignal): Promise<void> {
  return exclusively(join(APP, 'node_modules/.building'), signal, async () => {
    const library = fingerprint(SOURCES.map((path) => join(ROOT, path)))
    await unless(join(LIBRARY, '.fingerprint'), library, async () => {
      await timed(say, 'Building the library', () => buildLibrary(signal))
    })
    await unless(join(APP, '.next/.fingerprint'), library + fingerprint([APP]), async () => {
      const environment = { ...nextEnvironment(), STORAGE_URL: '' }
      await timed(say, 'Building the app, which is done once', () =>
        run([NEXT, 'build', APP], environment, signal),
      )
    })
  })
}

/** A step is never silent for longer than this, in milliseconds. */
const SILENT_MS = 5_000

async function timed(say: (line: string) => void, what: string, step: () => Promise<void>): Promise<void> {
  const began = performance.now()
  const seconds = (): string => `${Math.round((performance.now() - began) / 1000)} s`
  say(`${what} …`)
  const timer = setInterval(() => say(`  … ${seconds()}`), SILENT_MS)
  try {
    await step()
  } finally {
    clearInterval(timer)
  }
  say(`  done in ${seconds()}`)
}

async function buildLibrary(signal: AbortSignal): Promise<void> {
  const packageFile = createRequire(import.meta.url).resolve('rolldown/package.json')
  const rolldown = join(packageFile, '../bin/cli.mjs')
  await run([rolldown, '-c', '.ci/rolldown.config.ts', '--dir', join(LIBRARY, 'dist')], process.env, signal)
  // Editors and `tsc` find the types that `npm run build` creates.
  const description = readFileSync(join(ROOT, 'package.json'), 'utf8')
  writeFileSync(
    join(LIBRARY, 'package.json'),
    description.replaceAll(/"import": "\.\/dist\/(.+)\.js"/g, '"types": "./types/$1.d.ts", $&'),
  )
  rmSync(join(LIBRARY, 'types'), { force: true })
  symlinkSync(join(ROOT, 'dist'), join(LIBRARY, 'types'), 'junction')
}

/** Does the work unless the file records that it was done for the same sources. */
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
