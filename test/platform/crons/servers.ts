import { onTestFinished } from 'vitest'
import { internalsOf } from '../../../src/engine/index.ts'
import { startCronRun } from '../../../src/faces/rest/crons/fire.ts'
import { type CronRecord, clockOf, insertCron } from '../../../src/faces/rest/crons/records.ts'
import { dueDates } from '../../../src/faces/rest/crons/schedule.ts'
import { cronJobs } from '../../../src/faces/rest/face.ts'
import { createWebhooks } from '../../../src/faces/rest/runs/webhooks.ts'
import { createAgentEngine, defineAgent, type ServerEvent } from '../../../src/index.ts'
import type { Checkpointer } from '../../../src/storage/checkpointer/checkpointer.ts'
import { createJobs } from '../../../src/storage/jobs/jobs.ts'
import type { Store } from '../../../src/storage/store/store.ts'

/** What the test moves: by how much the clock that crons and their jobs go by is ahead of the store's. */
export interface Clock {
  ahead: number
}

/** The store with that clock for crons and jobs. Runs go by the store's own, or their leases would expire with each move. */
export const withClock = (store: Store, clock: Clock): Store => ({
  ...store,
  async inspect(partition, docs) {
    const state = await store.inspect(partition, docs)
    return ['crons', 'jobs'].includes(partition) ? { ...state, now: state.now + clock.ahead } : state
  },
})

/** A run, as its agent has seen it. */
export interface SeenRun {
  readonly cronId: string
  readonly due: number
  readonly runId: string
}

/** An instance of a server with crons, which closes with the test. */
export function startInstance(
  { store, checkpointer }: { readonly store: Store; readonly checkpointer: Checkpointer },
  clock: Clock,
  times = { claimMs: 2_000 },
) {
  const runs: SeenRun[] = []
  const events: ServerEvent[] = []
  const errors: unknown[] = []
  const agent = defineAgent({
    run({ config, run }) {
      const { cron_id, cron_due_at } = config.metadata as Record<string, string>
      runs.push({ cronId: cron_id!, due: Date.parse(cron_due_at!), runId: run.id })
    },
  })
  const engine = createAgentEngine({
    agents: { agent },
    store: withClock(store, clock),
    checkpointer,
    observe: (event) => events.push(event),
    onError: (error) => errors.push(error),
  })
  const onError = (error: unknown) => errors.push(error)
  // A runner of its own has the times of the test, and a close of its own.
  const crons = createJobs({ store: internalsOf(engine).store, report: onError, times })
  const startRun = startCronRun({
    engine,
    authorize: undefined,
    onError,
    webhooks: createWebhooks(engine, {}),
  })
  crons.register(cronJobs({ engine, onError, startRun }))
  onTestFinished(async () => {
    await crons.close()
    await engine.close()
  })
  return { engine, crons, runs, events, errors }
}

let made = 0

/** A cron that is due from now on. */
export async function addCron(
  store: Store,
  cron: Pick<CronRecord, 'schedule' | 'timezone'> & Partial<CronRecord>,
): Promise<CronRecord> {
  const now = await clockOf(store)
  const record: CronRecord = {
    cronId: `cron-${++made}`,
    assistantId: 'agent',
    threadId: null,
    owner: null,
    principal: null,
    endTime: null,
    enabled: true,
    onRunCompleted: 'keep',
    payload: { assistant_id: 'agent', input: {} },
    metadata: {},
    createdAt: now,
    updatedAt: now,
    nextRun: null,
    lastRun: null,
    ...cron,
  }
  const due = { ...record, nextRun: record.nextRun ?? (await dueDates(record, now))[0] ?? null }
  await insertCron(store, due)
  return due
}
