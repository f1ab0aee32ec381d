import { nextTurn } from '../../../core/time.ts'
import type { AgentEvent, TaskData } from '../../../messages/thread-events/index.ts'
import type { SaverHook } from '../../../storage/checkpointer/hooks.ts'
import { FencedError } from '../../../storage/errors.ts'

/**
 * Delays the writes of an agent until its events are in the log: a process that continues from a checkpoint
 * does not send the events before it again.
 */
export interface WriteGate {
  /** The writes of a checkpointer wait, and are rejected once the gate is shut. */
  readonly hook: SaverHook
  /** Notes an event that was recorded. */
  note(event: AgentEvent): void
  /** The root's step checkpoints that were written but whose values were not recorded, oldest first. */
  unreported(): readonly string[]
  /** The number of writes that wait or are in progress. */
  underWay(): number
  /** Rejects the writes whose events are not recorded yet, or all writes if the run is undone. */
  shut(how?: { readonly isUndone: boolean }): void
  /** Settles when no write waits or is in progress. */
  settled(): Promise<void>
  /** Allows the writes of `work`. */
  reopenFor<T>(work: () => Promise<T>): Promise<T>
}

interface Write<T> {
  readonly id: string
  /** When it no longer needs to wait. Default: when everything was recorded. */
  readonly ready?: () => Promise<void>
  readonly write: () => Promise<T>
}

/**
 * The number of checkpoints and task results with recorded events to remember, in case they are written
 * later.
 */
const MAX_REPORTED = 10_000

export interface WriteGateOptions {
  /**
   * Settles when all events that the agent has sent so far were recorded. Takes long if the agent is far
   * ahead of the log.
   */
  readonly recorded: () => Promise<void>
  /** Settles when the recorded events are in the log. */
  readonly flush: () => Promise<void>
  /**
   * Whether other processes share the store. If not, the log is lost with the process, no other process
   * continues the run, and writes need not wait.
   */
  readonly isShared: boolean
}

export function createWriteGate({ recorded, flush, isShared }: WriteGateOptions): WriteGate {
  const writes = new Set<Promise<unknown>>()
  const reports = createReports(recorded)
  let isShut = false
  let isUndone = false

  async function pass<T>({ id, ready = recorded, write }: Write<T>): Promise<T> {
    if (isShared) await ready()
    if (isUndone || (isShut && !reports.has(id))) throw new FencedError('The run was stopped.')
    if (isShared) await flush()
    return write()
  }

  function enter<T>(entering: Write<T>): Promise<T> {
    const passing = pass(entering)
    writes.add(passing)
    const forget = (): void => void writes.delete(passing)
    passing.then(forget, forget)
    return passing
  }

  return {
    hook: {
      async put(put, ...args) {
        const [{ configurable }, { id }, { source }] = args
        const isOfRoot = !configurable?.checkpoint_ns
        const ready = () => reports.whenReported(id, isOfRoot && source !== 'loop')
        const written = await enter({ id, ready, write: () => put(...args) })
        if (isOfRoot && source === 'loop') reports.noteWritten(id)
        return written
      },
      putWrites: (putWrites, ...args) => enter({ id: args[2], write: () => putWrites(...args) }),
    },
    note: reports.note,
    unreported: reports.unreported,
    underWay: () => writes.size,
    shut(how) {
      isShut = true
      isUndone ||= how?.isUndone === true
    },
    async settled() {
      while (writes.size > 0) {
        await Promise.allSettled(writes)
        // An agent may start its next write after this one.
        await nextTurn()
      }
    },
    async reopenFor(work) {
      isShut = false
      try {
        return await work()
      } finally {
        isShut = true
      }
    },
  }
}

/** Which checkpoints and results of tasks the recorded events report. */
function createReports(recorded: () => Promise<void>) {
  /** The ids of checkpoints and tasks whose last event was recorded. */
  const reported = new Set<string>()
  const waiting = new Map<string, () => void>()
  /** The checkpoints whose values come next, by namespace. */
  const announced = new Map<string, string>()
  const unreported = new Set<string>()

  function markReported(id: string): void {
    reported.add(id)
    unreported.delete(id)
    if (reported.size > MAX_REPORTED) reported.delete(reported.values().next().value!)
    waiting.get(id)?.()
  }

  return {
    has: (id: string): boolean => reported.has(id),
    note({ method, namespace, data }: AgentEvent): void {
      const key = namespace.join('|')
      const before = announced.get(key)
      if (method === 'tasks' && isResult(data)) markReported(data.id)
      else if (method === 'checkpoints') {
        announced.set(key, data.id)
        // A step without changes that clients see has no event of its own.
        if (data.parent_id !== undefined) markReported(data.parent_id)
      } else if (method === 'values' && before !== undefined) {
        announced.delete(key)
        markReported(before)
      }
    },
    /**
     * Settles when the events before a checkpoint were recorded. The checkpoint with the input of a run has
     * none.
     */
    async whenReported(id: string, hasInput: boolean): Promise<void> {
      if (hasInput || reported.has(id)) return
      await Promise.race([recorded(), new Promise<void>((resolve) => waiting.set(id, resolve))])
      waiting.delete(id)
    },
    noteWritten(id: string): void {
      if (!reported.has(id)) unreported.add(id)
    },
    unreported: (): readonly string[] => [...unreported],
  }
}

/** Whether an event reports the result of a task. */
const isResult = (data: TaskData): boolean => 'result' in data || 'error' in data
