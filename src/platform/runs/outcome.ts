import type { InputRequestedData, LoggedEvent } from '../../events/index.ts'
import type { Principal } from '../../principal.ts'
import { type AgentEngine, headOf, type RunRecord, readToEnd, type ThreadRecord } from '../../runs/index.ts'

export interface RunAddress {
  readonly threadId: string
  readonly runId: string
  readonly principal?: Principal | null | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a caller who waits for a run is given: the last values, or why it has failed. */
export interface Outcome {
  readonly isError: boolean
  /** JSON text. */
  readonly body: string
}

/** As graphs show it to their callers. */
interface Interrupt {
  readonly id: unknown
  readonly value: unknown
}

/** The events that a run ends with, of the root; questions come from everywhere. */
const FILTER = { channels: ['values', 'input'] }

/**
 * Waits for the end of a run, on any instance, and gives what it has ended with: its last values, with `__interrupt__` where it
 * waits for answers, as `invoke` of LangGraph gives them; `__error__` where it has failed; null where it never began.
 *
 * @param after A sequence number of the log before its first event. Default: it is looked up.
 */
export async function outcomeOf(engine: AgentEngine, at: RunAddress, after?: number): Promise<Outcome> {
  let last: LoggedEvent | undefined
  const interrupts: Interrupt[] = []
  const run = await readToEnd(engine, {
    ...at,
    after: after ?? (await startOf(engine, at)),
    filter: FILTER,
    take(event) {
      if (event.method === 'input.requested') interrupts.push(interruptOf(event.data))
      else if (event.namespace.length === 0 && !isInterruptOnly(event)) last = event
    },
  })
  if (run?.status === 'error') return failed(run.errorName ?? 'Error', run.error)
  let values = last?.json
  if (values === undefined && run && run.startedAt !== null) {
    // The log has lost the events of the run.
    const thread = await threadAfter(engine, at)
    values = JSON.stringify(thread && (await engine.readState(thread))?.values)
  }
  const waits = run?.status === 'interrupted' && run.end?.reason === null
  if (!waits) return { isError: false, body: values ?? 'null' }
  // Those that were open before the run and still are, which the log does not repeat.
  for (const { id, value } of (await threadAfter(engine, at))?.interrupts ?? [])
    if (!interrupts.some((one) => one.id === id)) interrupts.push({ id, value: value ?? null })
  const state = values === undefined ? {} : (JSON.parse(values) as object)
  return { isError: false, body: JSON.stringify({ ...state, __interrupt__: interrupts }) }
}

const failed = (error: string, message: string | null): Outcome => ({
  isError: true,
  body: JSON.stringify({ __error__: { error, message } }),
})

/**
 * The same for a caller who has to be given an object, which is the state of the thread where the run never began: the SDK's `wait`
 * fails on null.
 */
export async function withState(engine: AgentEngine, at: RunAddress, outcome: Outcome): Promise<Outcome> {
  if (outcome.body !== 'null') return outcome
  const thread = await engine.findThread(at)
  const state = thread && (await engine.readState(thread))
  return { ...outcome, body: JSON.stringify(state?.values ?? {}) }
}

/** Where the log was before the run, for one that has begun; else where it is now. */
async function startOf(engine: AgentEngine, at: RunAddress): Promise<number> {
  const { firstSeq = null } = (await engine.getRun(at)) ?? ({} as Partial<RunRecord>)
  return firstSeq === null ? headOf(engine, at) : firstSeq - 1
}

/** The thread of a run, where no other run has followed it. */
async function threadAfter(engine: AgentEngine, at: RunAddress): Promise<ThreadRecord | undefined> {
  const thread = await engine.findThread(at)
  return thread?.lastRunId === at.runId ? thread : undefined
}

const interruptOf = ({ interrupt_id: id, value, payload }: InputRequestedData): Interrupt => ({
  id,
  value: value ?? payload ?? null,
})

const isInterruptOnly = ({ json }: LoggedEvent): boolean =>
  json.startsWith('{"__interrupt__":') && Object.keys(JSON.parse(json)).length === 1
