import { type ChildProcess, spawn } from 'node:child_process'
import { bundleOf } from '../kit/bundle.ts'
import type { BadClock } from './strain.ts'

export interface InstanceOptions {
  readonly storageUrl: string
  /** The system chooses the port where this is 0. */
  readonly port: number
  readonly leaseTtlMs: number
  readonly drainMs: number
  /** The time that one call to the storage may take, in milliseconds. */
  readonly deadlineMs: number
  /** The clock that the process has. Default: the machine's. */
  readonly clock?: BadClock
  /** Whether its writes are slow at times. Default false. */
  readonly isSlow?: boolean
  /** Whether it mounts the doors of `test/doors`. Default false. */
  readonly hasDoors?: boolean
}

/** A message of an instance to its parent. */
export type FromInstance =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'error'; readonly text: string }
  /** The agent of a run has returned there, however the run ended. */
  | { readonly kind: 'left'; readonly runId: string }

export interface Instance {
  readonly origin: string
  readonly port: number
  readonly pid: number
  /** The errors that it reported, as text. */
  readonly errors: readonly string[]
  readonly exited: Promise<void>
  /** Settles when its agent has returned from this run. */
  left(runId: string): Promise<void>
  /** Sends SIGKILL, which ends it at once. */
  kill(): Promise<void>
  /** Sends SIGSTOP, after which it holds everything and does nothing. */
  freeze(): void
  /** Sends SIGCONT. */
  thaw(): void
  /** Sends SIGTERM, so that it drains. Settles when the process is gone. */
  terminate(): Promise<void>
}

/** Starts an instance. Settles when it takes requests. */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const program = await bundleOf('test/durability/instance.ts')
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
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
