import type { AgentEvent, TaskData } from '../../../events/index.ts'
import type { Checkpointer } from '../../../storage/checkpointer/checkpointer.ts'
import { overlay } from '../../../storage/checkpointer/overlay.ts'
import { FencedError } from '../../../storage/errors.ts'
import { nextTurn } from '../../../time.ts'

/**
 * Keeps the writes of an agent behind its events: each waits until the log has what led to it, because a process that continues from
 * a checkpoint does not send the events again.
 */
export interface WriteGate {
  /** A view of a saver whose writes wait, and are refused once the gate is shut. */
  guard(saver: Checkpointer): Checkpointer
  /** Notes an event that was recorded. */
  note(event: AgentEvent): void
  /** The checkpoints of steps of the root that were written and whose values were not recorded, oldest first. */
  untold(): readonly string[]
  /** How many writes wait or are being written. */
  underWay(): number
  /** Refuses the writes whose events were not recorded by now, or all writes where the run is undone. */
  shut(how?: { readonly isUndone: boolean }): void
  /** Settles when no write waits or is being written. */
  settled(): Promise<void>
  /** Lets the writes of `work` pass. */
  reopenFor<T>(work: () => Promise<T>): Promise<T>
}

interface Write<T> {
  readonly id: string
  /** When it need not wait any more. Default: when everything was recorded. */
  readonly ready?: () => Promise<void>
  readonly write: () => Promise<T>
}

/** How many checkpoints and results of tasks are remembered whose events were recorded, in case that they are still to be written. */
const MAX_TOLD = 10_000

export interface WriteGateOptions {
  /** Settles when all events that the agent has sent by now were recorded. An agent that is far ahead of the log makes it wait long. */
  readonly recorded: () => Promise<void>
  /** Settles when what was recorded is in the log. */
  readonly flush: () => Promise<void>
  /** Where the log is lost with the process, no other process continues the run, and writes need not wait. */
  readonly isShared: boolean
}

export function createWriteGate({ recorded, flush, isShared }: WriteGateOptions): WriteGate {
  const writes = new Set<Promise<unknown>>()
  /** The ids of checkpoints and tasks whose last event was recorded. */
  const told = new Set<string>()
  const waiting = new Map<string, () => void>()
  /** The checkpoints whose values come next, by namespace. */
  const announced = new Map<string, string>()
  const untold = new Set<string>()
  let isShut = false
  let isUndone = false

  function tell(id: string): void {
    told.add(id)
    untold.delete(id)
    if (told.size > MAX_TOLD) told.delete(told.values().next().value!)
    waiting.get(id)?.()
  }

  async function pass<T>({ id, ready = recorded, write }: Write<T>): Promise<T> {
    if (isShared) await ready()
    if (isUndone || (isShut && !told.has(id))) throw new FencedError('The run was stopped.')
    if (isShared) await flush()
    return write()
  }

  /** Settles when what led to a checkpoint was recorded. No event leads to the one with the input of a run. */
  async function isTold(id: string, hasInput: boolean): Promise<void> {
    if (hasInput || told.has(id)) return
    await Promise.race([recorded(), new Promise<void>((resolve) => waiting.set(id, resolve))])
    waiting.delete(id)
  }

  function enter<T>(entering: Write<T>): Promise<T> {
    const passing = pass(entering)
    writes.add(passing)
    const forget = (): void => void writes.delete(passing)
    passing.then(forget, forget)
    return passing
  }

  return {
    guard: (inner) =>
      overlay(inner, (saver) => ({
        async put(...args) {
          const [{ configurable }, { id }, { source }] = args
          const isOfRoot = !configurable?.checkpoint_ns
          const ready = () => isTold(id, isOfRoot && source !== 'loop')
          const written = await enter({ id, ready, write: () => saver.put(...args) })
          if (isOfRoot && source === 'loop' && !told.has(id)) untold.add(id)
          return written
        },
        putWrites: (...args) => enter({ id: args[2], write: () => saver.putWrites(...args) }),
      })),
    note({ method, namespace, data }) {
      const key = namespace.join('|')
      const before = announced.get(key)
      if (method === 'tasks' && isResult(data)) tell(data.id)
      else if (method === 'checkpoints') {
        announced.set(key, data.id)
        // A step that changes nothing which clients see has no event of its own.
        if (data.parent_id !== undefined) tell(data.parent_id)
      } else if (method === 'values' && before !== undefined) {
        announced.delete(key)
        tell(before)
      }
    },
    untold: () => [...untold],
    underWay: () => writes.size,
    shut(how) {
      isShut = true
      isUndone ||= how?.isUndone === true
    },
    async settled() {
      while (writes.size > 0) {
        await Promise.allSettled(writes)
        // An agent may begin the next write once this one has ended.
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

/** Whether an event tells how a task has ended. */
const isResult = (data: TaskData): boolean => 'result' in data || 'error' in data
