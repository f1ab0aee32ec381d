import { afterAll } from 'vitest'
import { type OpenedStorage, openStorage } from '../../src/storage/open-storage.ts'
import type { Backend } from './backends.ts'
import { type Instance, type InstanceOptions, startInstance } from './process.ts'

/** Short, so that tests are; long enough for a busy machine to renew it in time. */
export const LEASE_MS = 1_500

/** A database, a look into it from outside, and instances over it. All of it goes with the test file. */
export interface Scene {
  readonly url: string
  readonly storage: OpenedStorage
  start(options?: Partial<InstanceOptions>): Promise<Instance>
  /** A name nobody used before. */
  thread(): string
}

let threads = 0

export async function setScene(backend: Backend): Promise<Scene> {
  const { url, remove } = await backend.create()
  const storage = await openStorage(url)
  await storage.setup()
  const instances: Instance[] = []
  afterAll(async () => {
    await Promise.all(instances.map((instance) => instance.kill()))
    await storage.close()
    await remove()
  })
  return {
    url,
    storage,
    async start(options) {
      const instance = await startInstance({
        storageUrl: url,
        port: 0,
        leaseTtlMs: LEASE_MS,
        drainMs: 0,
        deadlineMs: 5_000,
        ...options,
      })
      instances.push(instance)
      return instance
    },
    thread: () => `thread-${process.pid}-${++threads}`,
  }
}

/** How often a test does what it does, `DURABILITY_<NAME>`. */
export const countOf = (name: string, fallback: number): number =>
  Number(process.env[`DURABILITY_${name}`] ?? fallback)

/** One line of what a test has found. */
export function report(backend: Backend, what: string, figures: string): void {
  process.stdout.write(`${backend.name} · ${what}: ${figures}\n`)
}

/** Does something `count` times, a few at once: most of the time is spent waiting for leases to end. */
export async function rounds(count: number, round: (i: number) => Promise<void>, atOnce = 4): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < count) await round(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

export const randomMs = (below: number): number => Math.floor(Math.random() * below)
