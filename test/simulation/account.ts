import type { RunRecord, ThreadRecord } from '../../src/engine/records/records.ts'
import type { Change, Committed, Op } from '../../src/storage/store/store.ts'
import type { PutCheckpoint, Watcher } from './database.ts'
import type { World } from './world.ts'

/** What a client asked for, and what it was told. */
export interface Command {
  /** Its number, which the entries of its run begin with. */
  readonly mark: number
  readonly kind: 'start' | 'respond' | 'write' | 'cancel' | 'delete'
  readonly threadId: string
  /** The virtual time. */
  readonly sentAt: number
  readonly count: number
  readonly strategy?: string
  /** The checkpoint that it forks from. */
  readonly checkpointId?: string
  /** The run to cancel, and how. */
  readonly target?: string
  readonly action?: string
  /** What an answer says. */
  readonly answer?: string
  /** Undefined until it is answered, and for ever where its client gave up: it may have happened. */
  outcome: 'taken' | 'refused' | undefined
  answeredAt: number | undefined
  runId: string | undefined
}

export interface Logged {
  readonly seq: number
  readonly method: string
  readonly runId: string
  readonly token: number
  readonly text: string
}

interface Saved {
  readonly entries: readonly string[]
  /** The calls of its messages that have no result. */
  readonly openCalls: readonly string[]
  readonly parentId: string | undefined
  readonly runId: string | undefined
}

export interface RunAccount {
  readonly runId: string
  command: Command | undefined
  record: RunRecord | undefined
  /** Whether its input was taken as the answer to a question. */
  isAnswer: boolean
  begunAt: number | undefined
  endedAt: number | undefined
  /** The state that its last event tells. */
  end: string | undefined
  isRolledBack: boolean
  /** The state that it began with, and the one that it saved last. */
  base: string | null
  last: string | undefined
}

export interface ThreadAccount {
  readonly threadId: string
  readonly log: Logged[]
  /** The last sequence number before the log: those of a deleted thread are not used again. */
  forgotten: number
  lease: { readonly token: number; readonly expiresAt: number } | undefined
  readonly saved: Map<string, Saved>
  readonly runs: Map<string, RunAccount>
  record: ThreadRecord | undefined
  /** The state that the next run continues from. */
  head: string | null
  active: RunAccount | undefined
  /** The states that readers may have seen, with the time from which on. */
  readonly visible: { readonly at: number; readonly id: string | null }[]
  /** When something of it changed last. */
  changedAt: number
  deletedAt: number | undefined
  /** How often it was deleted and began anew. */
  lives: number
  /** Whether all of its states were deleted, by the rollback of its first run or with it. */
  wasCleared: boolean
}

export class Violation extends Error {}

export const violate = (what: string): never => {
  throw new Violation(what)
}

const decoder = new TextDecoder()
const ENDS = ['completed', 'failed', 'interrupted']

/**
 * What must be so, from the commands alone and from what took effect in the database, in order. It throws where something happened that
 * nobody asked for, or that contradicts what happened before.
 */
export function createAccount(world: World, fail: (violation: unknown) => void) {
  const threads = new Map<string, ThreadAccount>()
  const commands: Command[] = []
  const harmedAt: number[] = []
  /** The times whose writes were forgotten, in virtual milliseconds. */
  const forgotten: { readonly from: number; readonly to: number }[] = []
  /** The runs whose last checkpoint the database may have forgotten: they have saved none since. */
  const withoutLast = new Set<string>()
  /** The checkpoints that were saved, those included that the database has forgotten. */
  const everSaved = new Set<string>()

  function thread(threadId: string): ThreadAccount {
    const known = threads.get(threadId)
    if (known) return known
    const made: ThreadAccount = {
      threadId,
      log: [],
      forgotten: 0,
      lease: undefined,
      saved: new Map(),
      runs: new Map(),
      record: undefined,
      head: null,
      active: undefined,
      visible: [{ at: 0, id: null }],
      changedAt: 0,
      deletedAt: undefined,
      lives: 1,
      wasCleared: false,
    }
    threads.set(threadId, made)
    return made
  }

  function runOf(of: ThreadAccount, runId: string): RunAccount {
    const known = of.runs.get(runId)
    if (known) return known
    const made: RunAccount = {
      runId,
      command: undefined,
      record: undefined,
      isAnswer: false,
      begunAt: undefined,
      endedAt: undefined,
      end: undefined,
      isRolledBack: false,
      base: null,
      last: undefined,
    }
    of.runs.set(runId, made)
    return made
  }

  const show = (of: ThreadAccount): void =>
    void of.visible.push({ at: world.now(), id: of.active?.last ?? of.head })

  /** The command that asked for a run. Each asks for one. */
  function commandOf(of: ThreadAccount, record: RunRecord): Command {
    const { start } = record
    const asked =
      start.kind === 'input'
        ? (start.value as { readonly mark?: number } | null)?.mark
        : markOfAnswer(Object.values(start.answers)[0])
    const command = commands.find(({ mark }) => mark === asked)
    if (!command || command.threadId !== of.threadId || command.sentAt > world.now())
      return violate(
        `run ${record.runId} of ${of.threadId} was asked for by nobody: ${JSON.stringify(start)}`,
      )
    if (command.runId !== undefined && command.runId !== record.runId)
      violate(`command ${command.mark} has two runs: ${command.runId} and ${record.runId}`)
    command.runId = record.runId
    if (command.outcome === 'refused') violate(`command ${command.mark} was refused, and has a run`)
    return command
  }

  function recordRun(of: ThreadAccount, record: RunRecord): void {
    const run = runOf(of, record.runId)
    run.command ??= commandOf(of, record)
    const before = run.record
    if (before?.end && JSON.stringify(before.end) !== JSON.stringify(record.end))
      violate(
        `run ${record.runId} of ${of.threadId} ended as ${JSON.stringify(before.end)} and again as ${JSON.stringify(record.end)}`,
      )
    if (before?.cancel && record.attempts > before.attempts)
      violate(`run ${record.runId} of ${of.threadId} is continued after it was cancelled`)
    run.record = record
    if (record.start.kind === 'resume') run.isAnswer = true
  }

  function recordThread(of: ThreadAccount, record: ThreadRecord): void {
    const { status, activeRunId, queue } = record
    const isBusy = activeRunId !== null || queue.length > 0
    if (isBusy !== (status === 'busy') && !record.deleting)
      violate(`${of.threadId} is ${status} with active run ${activeRunId} and ${queue.length} waiting`)
    of.record = record
  }

  function begin(of: ThreadAccount, runId: string): void {
    const run = runOf(of, runId)
    if (of.active) violate(`run ${runId} of ${of.threadId} begins while ${of.active.runId} is active`)
    if (run.begunAt !== undefined) violate(`run ${runId} of ${of.threadId} begins twice`)
    if (!run.record) violate(`run ${runId} of ${of.threadId} begins without a record`)
    if (run.endedAt !== undefined || run.record?.end)
      violate(`run ${runId} of ${of.threadId} begins after its end`)
    run.begunAt = world.now()
    run.base = run.command?.checkpointId ?? of.head
    of.active = run
  }

  function end(of: ThreadAccount, runId: string, state: string): void {
    const run = runOf(of, runId)
    if (of.active !== run) violate(`run ${runId} of ${of.threadId} ends and is not active`)
    run.endedAt = world.now()
    run.end = state
    const { record } = run
    run.isRolledBack = state === 'interrupted' && record?.cancel === 'rollback'
    const isRecorded = { completed: 'success', failed: 'error', interrupted: 'interrupted' }[state]
    if (record?.status !== isRecorded)
      violate(`run ${runId} of ${of.threadId} ends as ${state}, and its record says ${record?.status}`)
    // The state before a run that was rolled back is the one it continued from, also where it was a fork.
    if (!run.isRolledBack) of.head = run.last ?? of.head
    of.active = undefined
    show(of)
  }

  function append(of: ThreadAccount, origin: string, token: number, data: Uint8Array, seq: number): void {
    const last = of.log.at(-1)
    if (seq !== of.forgotten + of.log.length + 1)
      violate(`${of.threadId} has event ${seq} after ${of.forgotten + of.log.length}`)
    if (last && token < last.token)
      violate(`${of.threadId} has event ${seq} of token ${token} after one of ${last.token}`)
    const [method, namespace, runId] = JSON.parse(origin) as [string, string[], string]
    const frame = decoder.decode(data)
    const text = frame.slice(frame.indexOf('data: ') + 6).trimEnd()
    of.log.push({ seq, method, runId, token, text })
    const root =
      method === 'lifecycle' && namespace.length === 0
        ? (JSON.parse(text).params.data.event as string)
        : undefined
    if (root === 'running') {
      begin(of, runId)
      return
    }
    if (of.active?.runId !== runId)
      violate(`${of.threadId} has event ${seq} (${method}) of run ${runId}, which is not active`)
    if (root !== undefined && ENDS.includes(root)) end(of, runId, root)
  }

  function put(of: ThreadAccount, { id, parentId, checkpoint, runId }: PutCheckpoint): void {
    const known = of.saved.get(id)
    // A saver may be asked again where its answer was lost.
    if (known) return
    const entries = entriesOf(checkpoint.channel_values)
    of.saved.set(id, { entries, openCalls: openCallsOf(checkpoint.channel_values), parentId, runId })
    const { active } = of
    if (runId !== undefined) {
      if (active?.runId !== runId)
        violate(`run ${runId} of ${of.threadId} saves ${id}, and ${active?.runId ?? 'no run'} is active`)
      const due = active!.last ?? active!.base
      if ((parentId ?? null) !== due)
        violate(`run ${runId} of ${of.threadId} saves ${id} on ${parentId}, not on ${due}`)
      active!.last = id
      // What the database still has is told again where it forgets.
      if (!everSaved.has(id)) withoutLast.delete(runId)
      everSaved.add(id)
    } else {
      if (active) violate(`a state ${id} of ${of.threadId} is written during run ${active.runId}`)
      of.head = id
    }
    requireStep(of, entries, parentId, id)
    show(of)
  }

  /** A checkpoint has at most one step more than the one before, and all that this had. */
  function requireStep(
    { threadId, log, saved }: ThreadAccount,
    entries: readonly string[],
    parentId: string | undefined,
    id: string,
  ): void {
    const before = parentId === undefined ? [] : saved.get(parentId)?.entries
    if (!before) throw new Violation(`${id} of ${threadId} is on ${parentId}, which was never saved`)
    // Functions have a list for each command, in the order of their names.
    const at = entries.findIndex((entry, i) => entry !== before[i])
    const added = at < 0 ? undefined : entries[at]
    const kept = at < 0 ? entries : entries.toSpliced(at, 1)
    if (String(kept) !== String(before)) violate(`${id} of ${threadId} has [${entries}] on [${before}]`)
    if (added === undefined || added.startsWith('w')) return
    const [mark, n] = added.split(/[.=]/) as [string, string]
    const earlier = before.filter((entry) => entry.startsWith(`${mark}.`)).length
    if (Number(n) !== earlier) violate(`${id} of ${threadId} has step ${added} after [${before}]`)
    // Whoever continues from a state does not tell its steps again.
    const payload = `"mark":${mark},"n":${n},`
    // The database may have forgotten what was told before the state was saved.
    const asked = commands.find((command) => String(command.mark) === mark)
    if (forgotten.some(({ to }) => asked !== undefined && asked.sentAt <= to)) return
    if (!log.some(({ method, text }) => method === 'custom' && text.includes(payload)))
      violate(`${id} of ${threadId} has step ${added}, of which the log tells nothing`)
  }

  /** A lease that is held is taken by nobody else. */
  function hold(of: ThreadAccount, op: Op, now: number): void {
    const { lease } = of
    if (op.op === 'claim') {
      if (lease && lease.expiresAt > now)
        violate(
          `${of.threadId} is claimed with ${op.token}, and held with ${lease.token} until ${lease.expiresAt}`,
        )
      of.lease = { token: op.token, expiresAt: now + op.ttlMs }
    } else if (op.op === 'renew') of.lease = { token: op.token, expiresAt: now + op.ttlMs }
    else if (op.op === 'clear' || (op.op === 'release' && lease?.token === op.token)) of.lease = undefined
  }

  function clear(of: ThreadAccount): void {
    of.forgotten += of.log.length
    of.log.length = 0
    of.saved.clear()
    of.runs.clear()
    of.record = undefined
    of.head = null
    of.active = undefined
    of.deletedAt = world.now()
    of.lives += 1
    show(of)
  }

  const guarded = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      fail(error)
    }
  }

  const watcher: Watcher = {
    committed: (threadId, { ops }: Change, { head }: Committed, at: number) =>
      guarded(() => {
        const of = thread(threadId)
        for (const op of ops) hold(of, op, Math.floor(at))
        if (ops.every(({ op }) => op === 'renew')) return
        of.changedAt = world.now()
        for (const op of ops) {
          if (op.op === 'put' && op.collection === 'runs') recordRun(of, op.value as unknown as RunRecord)
        }
        const count = ops.reduce((sum, op) => sum + (op.op === 'append' ? op.events.length : 0), 0)
        let seq = head - count
        for (const op of ops) {
          if (op.op === 'append')
            for (const { topic, data } of op.events) append(of, topic, op.token, data, ++seq)
          if (op.op === 'clear') clear(of)
        }
        for (const op of ops)
          if (op.op === 'put' && op.collection === 'threads')
            recordThread(of, op.value as unknown as ThreadRecord)
      }),
    put: (checkpoint) =>
      guarded(() => {
        const of = thread(checkpoint.threadId)
        of.changedAt = world.now()
        put(of, checkpoint)
      }),
    stateDeleted: (threadId) =>
      guarded(() => {
        const of = thread(threadId)
        if (!of.record?.deleting && of.head !== null)
          violate(`all states of ${threadId} are deleted, and ${of.head} is its head`)
        of.saved.clear()
        of.wasCleared = true
        if (of.active) of.active.last = undefined
        of.head = null
        show(of)
      }),
    forgotten(lastMs) {
      forgotten.push({ from: world.now() - lastMs, to: world.now() })
      for (const of of threads.values()) {
        if (of.active) withoutLast.add(of.active.runId)
        clear(of)
        of.forgotten = 0
        of.lease = undefined
        of.deletedAt = undefined
      }
      for (const command of commands) command.runId = undefined
    },
  }
  return {
    watcher,
    threads,
    thread,
    commands,
    /** When instances were killed, closed or stopped. */
    harmedAt,
    /** Whether the database may have forgotten what a command did: it was not answered before the times that are forgotten. */
    mayBeForgotten: ({ sentAt, answeredAt = Number.POSITIVE_INFINITY }: Command): boolean =>
      forgotten.some(({ from, to }) => sentAt <= to && answeredAt >= from),
    /** Whether a run may have ended without its last checkpoint, which the database has forgotten: its log does not show it. */
    mayLackLast: ({ runId }: RunAccount): boolean => withoutLast.has(runId),
  }
}

export type Account = ReturnType<typeof createAccount>

/** The steps that a state lists, oldest first. */
export function entriesOf(values: Readonly<Record<string, unknown>>): readonly string[] {
  const own = (values.log as readonly string[] | undefined) ?? []
  const byRun = Object.entries(values)
    .filter(([key]) => key.startsWith('log:'))
    .flatMap(([key, taken]) => (taken as readonly string[]).map((n) => `${key.slice(4)}.${n}`))
  return [...own, ...byRun]
}

interface SavedMessage {
  readonly type?: string
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string }[]
}

function openCallsOf({ messages }: Readonly<Record<string, unknown>>): readonly string[] {
  const all = (messages as readonly SavedMessage[] | undefined) ?? []
  const done = new Set(all.map(({ tool_call_id }) => tool_call_id))
  return all.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)).filter((id) => !done.has(id))
}

/** `a12` of a respond, or the input of a start that an interrupted thread took as an answer. */
function markOfAnswer(answer: unknown): number | undefined {
  if (typeof answer === 'string') return Number(answer.slice(1))
  return (answer as { readonly mark?: number } | undefined)?.mark
}
