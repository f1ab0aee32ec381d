/**
 * `npm run demo`: builds the library and the app if their sources have changed, starts `next start`, and
 * prints what to try. Ctrl-C or SIGTERM stops everything.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { AgentwireError } from 'agentwire'
import { openStorage } from 'agentwire/storage'
import { APP, build, NEXT, nextEnvironment, ROOT } from './demo/build.ts'
import { freePort } from './demo/port.ts'
import { welcome } from './demo/welcome.ts'
import { chooseProvider } from './server/models/providers.ts'

const { PORT = '3000', HOST = '127.0.0.1', SPEED } = process.env
const storageUrl = process.env.STORAGE_URL || 'memory:'
const wanted = Number(PORT)
if (!/^\d+$/.test(PORT) || wanted > 65_535) stop(`PORT must be a number from 0 to 65535, not “${PORT}”.`)
if (SPEED && !(Number(SPEED) > 0)) stop(`SPEED must be a number of tokens a second, not “${SPEED}”.`)

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
// The shell between npm and this process does not forward signals: it ends, and this process gets another
// parent.
const { ppid } = process
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== ppid && stopping.abort(), 500).unref()

await checkStorage(storageUrl)
const port = await freePort(wanted, HOST).catch((error) => stop(error.message))
await build(console.log, stopping.signal).catch((error) =>
  stopping.signal.aborted ? process.exit(0) : stop(error.message),
)

const key = crypto.randomUUID()
const repository = join(ROOT, 'examples/deployed/')
const next = spawn(process.execPath, [NEXT, 'start', APP, '-p', String(port), '-H', HOST], {
  cwd: ROOT,
  env: {
    ...nextEnvironment(),
    // The agents' server closes before the process ends: server/shutdown.ts.
    NEXT_MANUAL_SIG_HANDLE: '1',
    CONTROL_PLANE_KEY: key,
    CONTROL_PLANE_REPOSITORY: repository,
  },
  stdio: ['ignore', 'ignore', 'inherit'],
})
const ended = new Promise<void>((resolve) => next.once('exit', () => resolve()))
void ended.then(() => process.exit(stopping.signal.aborted ? 0 : 1))
// A terminal sends Ctrl-C to both processes: the second signal has no effect.
if (stopping.signal.aborted) next.kill('SIGTERM')
else stopping.signal.addEventListener('abort', () => next.kill('SIGTERM'))

const origin = `http://${HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST}:${port}`
while (!(await isUp())) await pause(50)
const model = chooseProvider(process.env)?.label ?? 'a scripted model (offline)'
console.log(welcome({ origin, model, storageUrl, key, repository }))

async function isUp(): Promise<boolean> {
  try {
    return (await fetch(`${origin}/ok`)).ok
  } catch {
    return false // It does not listen yet.
  }
}

/** Reports problems with the storage before anything is built. */
async function checkStorage(url: string): Promise<void> {
  try {
    const storage = await openStorage(url)
    await storage.setup()
    await storage.close()
  } catch (error) {
    if (error instanceof AgentwireError) stop(`STORAGE_URL: ${error.message}`)
    throw error
  }
}

function stop(message: string): never {
  console.error(message)
  process.exit(1)
}
