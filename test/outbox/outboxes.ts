import { onTestFinished } from 'vitest'
import type { Deliver, DeliveryRequest } from '../../src/outbox/delivery/delivery.ts'
import { createOutbox, type Outbox, type OutboxOptions } from '../../src/outbox/outbox.ts'
import type { OutboxTimes } from '../../src/outbox/work.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { BACKENDS } from '../kit/backends.ts'
import { sharedMemory } from '../kit/shared.ts'

/** Each of the four stores, empty. Every call of what it gives is a handle of an instance of its own. */
export const STORES: readonly { readonly name: string; readonly create: () => Promise<() => Store> }[] = [
  {
    name: 'memory',
    async create() {
      const open = sharedMemory()
      return () => open().store
    },
  },
  ...BACKENDS.filter((backend) => backend.installed()).map((backend) => ({
    name: backend.name,
    async create() {
      const database = await backend.create()
      onTestFinished(() => database.remove())
      const first = await openStorage(database.url)
      await first.setup()
      onTestFinished(() => first.close())
      const unused = [first]
      const opened = await Promise.all([openStorage(database.url), openStorage(database.url)])
      for (const storage of opened) onTestFinished(() => storage.close())
      unused.push(...opened)
      return () => unused.pop()!.store
    },
  })),
]

/** Short times, which a busy machine can keep. */
export const TIMES: Partial<OutboxTimes> = { claimMs: 600, retryMs: 10, maxRetryMs: 100, drainMs: 2_000 }

export interface Reported {
  readonly code: string
  readonly message: string
  readonly cause: unknown
}

/** An outbox that is closed when the test ends, with what it reports. */
export function openOutbox(
  options: Omit<OutboxOptions, 'report' | 'deliver'> & { readonly deliver?: Deliver },
) {
  const reported: Reported[] = []
  const outbox: Outbox = createOutbox({
    deliver: async () => ({ status: 200 }),
    times: TIMES,
    ...options,
    report: (error) => void reported.push(error as Reported),
  })
  onTestFinished(() => outbox.close())
  return { outbox, reported }
}

/** A receiver in this process, which notes the bodies it gets. */
export function receiver(answer: (request: DeliveryRequest) => unknown = () => {}) {
  const bodies: string[] = []
  const deliver: Deliver = async (request) => {
    bodies.push(request.body)
    await answer(request)
    return { status: 200 }
  }
  return { bodies, deliver }
}
