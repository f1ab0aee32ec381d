import { setTimeout as sleep } from 'node:timers/promises'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { overlay } from '../../src/storage/checkpointer/hooks.ts'
import type { OpenedStorage } from '../../src/storage/open.ts'

/** A clock that is off by up to `spreadMs` milliseconds, and by another time every now and then. Clocks of one seed agree. */
export interface BadClock {
  readonly seed: number
  readonly spreadMs: number
}

const JUMPS_EVERY_MS = 1_300

/** Makes this process's clock a bad one. */
export function keepBadTime({ seed, spreadMs }: BadClock): void {
  const now = Date.now
  Date.now = () => {
    const right = now()
    return right + Math.round(spreadMs * (2 * fraction(seed, Math.floor(right / JUMPS_EVERY_MS)) - 1))
  }
}

/** A number from 0 to 1 that looks random, and is the same in all processes. */
function fraction(seed: number, period: number): number {
  let mixed = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(period, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32
}

const PERIOD_MS = 4_000
const SLOW_MS = 1_000
const MAX_DELAY_MS = 250

/** A storage that takes its time for every write during one second in four. */
export function slowed(storage: OpenedStorage): OpenedStorage {
  const wait = async () => {
    if (performance.now() % PERIOD_MS < SLOW_MS) await sleep(Math.random() * MAX_DELAY_MS)
  }
  const slowSaver = (inner: Checkpointer): Checkpointer =>
    overlay(inner, (saver) => ({
      async put(...args) {
        await wait()
        return saver.put(...args)
      },
      async putWrites(...args) {
        await wait()
        await saver.putWrites(...args)
      },
      ...(saver.withFence && {
        withFence: (partition: string, token: number) => slowSaver(saver.withFence!(partition, token)),
      }),
    }))
  const { store } = storage
  return {
    ...storage,
    store: {
      ...store,
      async commit(...args) {
        await wait()
        return store.commit(...args)
      },
    },
    checkpointer: slowSaver(storage.checkpointer),
  }
}
