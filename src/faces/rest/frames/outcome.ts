import type { StateSnapshot } from '../../../agents/agent.ts'
import type { Principal } from '../../../core/principal.ts'
import {
  headOf,
  type RunRecord,
  readToEnd,
  type ServedEngine,
  type ThreadRecord,
} from '../../../engine/index.ts'
import type { InputRequestedData, LoggedEvent } from '../../../messages/thread-events/index.ts'

export interface RunAddress {
  readonly threadId: string
  readonly runId: string
  readonly principal?: Principal | null | undefined
  readonly signal?: AbortSignal | undefined
}

/** The outcome of a run, for a caller that waits for it: the last values, or why it has failed. */
export interface Outcome {
  readonly isError: boolean
  /** JSON text. */
  readonly body: string
}

/** An interrupt as graphs return it. */
interface Interrupt {
  readonly id: unknown
  readonly value: unknown
}

/** The events that the outcome is made from. */
const FILTER = { channels: ['values', 'input', 'checkpoints'] }

/**
 * Waits for the end of a run, on any instance, and returns its outcome: its last values, with `__interrupt__`
 * if it waits for answers, as LangGraph's `invoke` returns them; `__error__` if it has failed; null if it
 * never started.
 *
 * @param after A log sequence number before the run's first event, for a run that the caller has started or
 * found. Default: it is looked up.
 */
export async function outcomeOf(engine: ServedEngine, at: RunAddress, after?: number): Promise<Outcome> {
  let last: LoggedEvent | undefined
  const interrupts: Interrupt[] = []
  const run = await readToEnd(engine, {
    ...at,
    after: after ?? (await startOf(engine, at)),
    isKnown: after !== undefined,
    filter: FILTER,
    take(event) {
      if (event.method === 'input.requested') interrupts.push(interruptOf(event.data))
      // The log has no state that is too long for an event.
      else if (event.method === 'checkpoints')
        last = event.namespace.length === 0 && event.data.values_omitted ? undefined : last
      else if (event.namespace.length === 0 && !isInterruptOnly(event)) last = event
    },
  })
  if (run?.status === 'error') return failed(run.errorName ?? 'Error', run.error)
  let values = last?.json
  // The log may have lost the events of the run.
  if (values === undefined && run && run.startedAt !== null)
    values = JSON.stringify((await stateAfter(engine, at))?.values)
  const waits = run?.status === 'interrupted' && run.end?.reason === null
  if (!waits) return { isError: false, body: values ?? 'null' }
  // Interrupts that were open before the run and still are. The log does not repeat them.
  for (const { id, value } of (await threadAfter(engine, at))?.interrupts ?? [])
    if (!interrupts.some((one) => one.id === id)) interrupts.push({ id, value: value ?? null })
  const state = values === undefined ? {} : (JSON.parse(values) as object)
  return { isError: false, body: JSON.stringify({ ...state, __interrupt__: interrupts }) }
}

const failed = (error: string, message: string | null): Outcome => ({
  isError: true,
  body: JSON.stringify({ __error__: { error, message } }),
})

/** The same for the SDK's `wait`, which fails on null: the thread's state if the run never started. */
export async function withState(engine: ServedEngine, at: RunAddress, outcome: Outcome): Promise<Outcome> {
  if (outcome.body !== 'null') return outcome
  const thread = await engine.findThread(at)
  const state = thread && (await engine.readState(thread))
  return { ...outcome, body: JSON.stringify(state?.values ?? {}) }
}

/** The log's head before the run if it has started, otherwise the current head. */
async function startOf(engine: ServedEngine, at: RunAddress): Promise<number> {
  const { firstSeq = null } = (await engine.getRun(at)) ?? ({} as Partial<RunRecord>)
  return firstSeq === null ? headOf(engine, at) : firstSeq - 1
}

/** The newest state that a run wrote. */
async function stateAfter(engine: ServedEngine, at: RunAddress): Promise<StateSnapshot | undefined> {
  const thread = await engine.findThread(at)
  if (!thread) return undefined
  if (thread.lastRunId === at.runId) return engine.readState(thread)
  const filter = { run_id: at.runId }
  for await (const state of engine.readHistory(thread, {}, { limit: 1, filter })) return state
  return undefined
}

/** The thread of a run, if no other run has followed it. */
async function threadAfter(engine: ServedEngine, at: RunAddress): Promise<ThreadRecord | undefined> {
  const thread = await engine.findThread(at)
  return thread?.lastRunId === at.runId ? thread : undefined
}

const interruptOf = ({ interrupt_id: id, value, payload }: InputRequestedData): Interrupt => ({
  id,
  value: value ?? payload ?? null,
})

const isInterruptOnly = ({ json }: LoggedEvent): boolean =>
  json.startsWith('{"__interrupt__":') && Object.keys(JSON.parse(json)).length === 1
