import { onTestFinished } from 'vitest'
import type { Deliver, DeliveryRequest } from '../../src/core/egress/delivery.ts'
import { type NewJob, putJobOp, removeJobOp } from '../../src/storage/jobs/job.ts'
// Loaded on demand otherwise, which takes longer than a test with a clock of its own waits.
import '../../src/storage/jobs/runner.ts'
import { createJobs, type Jobs } from '../../src/storage/jobs/jobs.ts'
import { type JobHandler, RETRY_FOR_A_DAY } from '../../src/storage/jobs/kind.ts'
import type { JobTimes } from '../../src/storage/jobs/runner.ts'
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
export const TIMES: Partial<TestTimes> = { claimMs: 600, retryMs: 10, maxRetryMs: 100, drainMs: 2_000 }

/** Those of the runner, and those of the retry rule. */
export interface TestTimes extends JobTimes {
  readonly retryMs: number
  readonly maxRetryMs: number
  readonly giveUpMs: number
}

export interface Reported {
  readonly code: string
  readonly message: string
  readonly cause: unknown
}

interface TestJobs extends Jobs {
  put(partition: string, job: NewJob): Promise<void>
  remove(partition: string, id: string): Promise<void>
}

interface TestOptions {
  readonly store: Store
  readonly handlers: Readonly<Record<string, JobHandler>>
  readonly deliver?: Deliver
  readonly times?: Partial<TestTimes>
}

/** Jobs whose runner is closed when the test ends, with what it reports. */
export function openJobs({ store, handlers, times = TIMES, ...options }: TestOptions) {
  const { deliver = async () => ({ status: 200 }) } = options
  const retry = {
    firstMs: times.retryMs ?? RETRY_FOR_A_DAY.firstMs,
    maxMs: times.maxRetryMs ?? RETRY_FOR_A_DAY.maxMs,
    giveUpAfterMs: times.giveUpMs ?? RETRY_FOR_A_DAY.giveUpAfterMs,
  }
  const reported: Reported[] = []
  const made = createJobs({ store, report: (error) => void reported.push(error as Reported), times })
  made.register(
    Object.fromEntries(
      Object.entries(handlers).map(([kind, handle]) => [kind, { handle, retry, deliver }] as const),
    ),
  )
  const jobs: TestJobs = {
    ...made,
    async put(partition, job) {
      await store.commit(partition, { ops: [putJobOp(job)] })
      made.wake()
    },
    async remove(partition, id) {
      await store.commit(partition, { ops: [removeJobOp(id)] })
    },
  }
  onTestFinished(() => jobs.close())
  return { jobs, reported }
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
