import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll } from 'vitest'

export interface InstanceOptions {
  readonly storageUrl: string
  /** 0 lets the system choose. */
  readonly port: number
  readonly leaseTtlMs: number
  readonly drainMs: number
  /** How long one call to the storage may take. */
  readonly deadlineMs: number
}

/** What an instance tells its parent. */
export type FromInstance =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'error'; readonly text: string }
  /** An agent has come to the end of its run there, whatever became of it. */
  | { readonly kind: 'left'; readonly runId: string }

export interface Instance {
  readonly origin: string
  readonly port: number
  readonly pid: number
  /** What it reported, as text. */
  readonly errors: readonly string[]
  readonly exited: Promise<void>
  /** Settles when its agent works on this run no more. */
  left(runId: string): Promise<void>
  /** SIGKILL: at once, wherever it is. */
  kill(): Promise<void>
  /** SIGSTOP: it holds everything and does nothing. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
  /** SIGTERM: it drains. Settles when the process is gone. */
  terminate(): Promise<void>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Under `node_modules`, so that what is not bundled is found. */
const place = `${root}node_modules/.cache/agentwire-durability`
const bundle = `${place}/instance-${process.pid}.mjs`
let built = false
afterAll(() => rmSync(bundle, { force: true }))

/** One file starts several times as fast as the sources. */
function build(): void {
  if (built) return
  mkdirSync(place, { recursive: true })
  buildSync({
    entryPoints: [`${root}test/durability/instance.ts`],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['zod', 'pg', 'libsql', 'better-sqlite3', 'ioredis', 'redis'],
    // LangChain's packages require modules of Node.
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
    },
    logLevel: 'error',
  })
  built = true
}

/** Starts an instance. Settles when it takes requests. */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  build()
  const child = spawn(process.execPath, [bundle, JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const errors: string[] = []
  const left = new Set<string>()
  const waiting = new Map<string, () => void>()
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    child.on('message', (message: FromInstance) => {
      if (message.kind === 'ready') resolve(message.port)
      else if (message.kind === 'error') errors.push(message.text)
      else {
        left.add(message.runId)
        waiting.get(message.runId)?.()
      }
    })
    child.once('exit', (code) => reject(new Error(`The instance ended with ${code} before it was ready.`)))
  })
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    pid: child.pid!,
    errors,
    exited,
    left: (runId) =>
      new Promise((resolve) => {
        if (left.has(runId)) resolve()
        else waiting.set(runId, resolve)
      }),
    ...signals(child, exited),
  }
}

function signals(child: ChildProcess, exited: Promise<void>) {
  return {
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async terminate() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
