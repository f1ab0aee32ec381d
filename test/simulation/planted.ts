import type { Patch } from './compile.ts'

/** A fault that the simulator must find. */
export interface Fault {
  readonly name: string
  readonly patches: readonly Patch[]
}

const fault = (name: string, file: string, text: string, by: string): Fault => ({
  name,
  patches: [{ file: `src/${file}`, text, by }],
})

/** Faults that earlier versions had. */
const EARLIER: readonly Fault[] = [
  fault(
    'a rolled-back run returns',
    'engine/execution/iterate.ts',
    '(run.checkpointId ?? thread.restoredCheckpointId ?? undefined)',
    '(run.checkpointId ?? undefined)',
  ),
  fault(
    'checkpoints are in the order of the clocks of processes',
    'storage/memory/checkpointer.ts',
    'if (!namespace.kept.has(id) || namespace.newest?.checkpointId === id) namespace.newest = kept',
    'if (!namespace.newest || namespace.newest.checkpointId <= id) namespace.newest = kept',
  ),
  fault(
    'an expired lease is taken for a held one',
    'storage/coordination/leases.ts',
    'lease !== undefined && lease.expiresAt > now',
    'lease !== undefined',
  ),
  {
    name: 'a cancelled run saves a step that its events do not tell',
    patches: [
      {
        file: 'src/engine/execution/iterate.ts',
        text: 'isWriting = writes.underWay() > 0 || writes.unreported().length > 0',
        by: 'isWriting = false',
      },
      {
        file: 'src/engine/execution/saver/write-gate.ts',
        text: 'unreported: (): readonly string[] => [...unreported],',
        by: 'unreported: (): readonly string[] => [],',
      },
      {
        file: 'src/engine/execution/saver/write-gate.ts',
        text: 'if (isUndone || (isShut && !reports.has(id)))',
        by: 'if (isUndone)',
      },
    ],
  },
  fault(
    'the state is saved before the events that led to it',
    'engine/execution/saver/write-gate.ts',
    '    if (isShared) await flush()\n    return write()',
    '    return write()',
  ),
  fault(
    'a thread is idle while runs wait',
    'engine/execution/finish.ts',
    "...(thread.queue.length === 0 ? { status: rests } : { status: 'busy', restStatus: rests }),",
    'status: rests,',
  ),
  fault(
    'readers trust notifications',
    'engine/log/watchers.ts',
    'if (store.capabilities.shared) timer ??= setInterval(recheck, RECHECK_MS / RECHECK_SLOTS)',
    'if (store.capabilities.shared && recheck.length > 9) timer ??= setInterval(recheck, RECHECK_MS / RECHECK_SLOTS)',
  ),
  fault(
    'a rollback forgets which state it restored',
    'engine/execution/finish.ts',
    'interrupts, restoredCheckpointId: checkpointId, restoredWrites: writes, supersededThroughSeq',
    'interrupts, supersededThroughSeq',
  ),
]

/** Faults that the simulator has found. */
const FOUND: readonly Fault[] = [
  fault(
    'a take-over that the absence of the store caused counts as a lost process',
    'engine/execution/take-over.ts',
    'lease?.owner !== instance && !(lease && wasAway(now - lease.expiresAt + leaseTtlMs))',
    'lease?.owner !== instance',
  ),
  fault(
    'a run whose events were forgotten tries to end again and again',
    'engine/log/appender.ts',
    'renew && error instanceof ConflictError && (await hasLost(store, threadId, before))',
    'renew && error instanceof ConflictError && (await hasLost(store, threadId, -1))',
  ),
  fault(
    'a checkpoint is saved on one that the database has forgotten',
    'storage/memory/one-database.ts',
    'threads && onParents(threads)',
    'undefined',
  ),
  {
    name: 'readers get events that the database has forgotten',
    patches: [
      {
        file: 'src/engine/log/watchers.ts',
        text: 'if (last && writerOf(last, last.count - 1) !== writerOf(batch, 0)) {',
        by: 'if (last && batch.count < 0) {',
      },
      {
        file: 'src/engine/log/watchers.ts',
        text: 'writerOf(last, last.count - 1) < writerOf(batch, 0)',
        by: 'writerOf(last, last.count - 1) < 0',
      },
    ],
  },
  fault(
    'the next answer of a question is that of a run that was rolled back',
    'engine/records/kept-writes.ts',
    'if (restoredCheckpointId === null || !restoredWrites) return undefined',
    'if (restoredCheckpointId !== null || !restoredWrites) return undefined',
  ),
]

/** Faults by hand. */
const BY_HAND: readonly Fault[] = [
  fault(
    'a run starts on a thread that another process holds',
    'engine/execution/launch.ts',
    "guards: [guardThread(threadId, read), { guard: 'free' }, { guard: 'head', seq: state.head }, ...guards],",
    'guards: [...guards],',
  ),
  fault(
    'a rollback after a rollback restores the state that the first one undid',
    'engine/execution/launch.ts',
    'checkpointId: thread.restoredCheckpointId ?? newest?.tuple?.checkpoint.id ?? null,',
    'checkpointId: newest?.tuple?.checkpoint.id ?? null,',
  ),
  fault(
    'the end of a run overwrites a thread that has changed',
    'engine/execution/finish.ts',
    'const guards = [guardThread(threadId, held.thread), guardRun(held.run)]',
    'const guards = [guardRun(held.run)]',
  ),
  fault(
    'the end of a run overwrites a cancel',
    'engine/execution/finish.ts',
    'const guards = [guardThread(threadId, held.thread), guardRun(held.run)]',
    'const guards = [guardThread(threadId, held.thread)]',
  ),
  fault(
    'a cancel that comes with the last event is forgotten',
    'engine/execution/finish.ts',
    "const stopped: Outcome = cancel ? { end: 'stopped', reason: cancel } : outcome",
    'const stopped: Outcome = outcome',
  ),
  fault(
    'a run that is taken over is continued though it was cancelled',
    'engine/execution/take-over.ts',
    'cancel === null &&\n  attempts',
    'attempts',
  ),
  fault(
    'a process that takes over does not look whether another did',
    'engine/execution/take-over.ts',
    "    guardRun(run),\n    { guard: 'free' },\n    { guard: 'head', seq: state.head },",
    "    guardRun(run),\n    { guard: 'head', seq: state.head },\n    { guard: 'head', seq: state.head },",
  ),
  fault(
    'a run that is taken over goes on where it never was',
    'engine/execution/take-over.ts',
    'const rest = written ? FROM_HEAD : await remainingInput(context, thread, run)',
    'const rest = FROM_HEAD',
  ),
  fault(
    'a run that is taken over begins again',
    'engine/execution/take-over.ts',
    'const rest = written ? FROM_HEAD : await remainingInput(context, thread, run)',
    'const rest = await remainingInput(context, thread, run)',
  ),
  fault(
    'two runs are queued over each other',
    'engine/execution/enqueue.ts',
    'const guards = [guardThread(threadId, read), ...request.guards]',
    'const guards = [...request.guards]',
  ),
  fault(
    'a run that interrupts does not stop the one before',
    'engine/execution/enqueue.ts',
    'requestCancel(active.record, strongerCancel(active.record.cancel, strategy))',
    'requestCancel(active.record, active.record.cancel ?? (null as never))',
  ),
  fault(
    'dropped runs stay without an end',
    'engine/execution/enqueue.ts',
    'if (!run || isEnded(run.record)) continue',
    'if (run) continue',
  ),
  fault(
    'a cancel of another process is not noticed',
    'engine/execution/cancel.ts',
    '} else if (cancel !== run.record.cancel) {',
    '} else if (context.active.has(threadId)) {',
  ),
  fault(
    'events are written without the lease',
    'engine/log/appender.ts',
    "guards: [{ guard: 'fence', token }, { guard: 'head', seq: before }, ...guards],",
    'guards: [...guards],',
  ),
  fault(
    'records are remembered after a commit that failed',
    'engine/records/held.ts',
    'held = undefined',
    'void 0',
  ),
  fault(
    'runs of lost processes are not looked for',
    'engine/orphaned-work.ts',
    'const orphaned = [...expired, ...due].map(({ partition }) => partition)',
    'const orphaned = [...due].map(({ partition }) => partition)',
  ),
  fault(
    'a lease is renewed too late',
    'storage/coordination/hold-lease.ts',
    'jitter(ttlMs / 3)',
    'jitter(ttlMs * 1.5)',
  ),
  fault(
    'a renewal takes the lease from its next holder',
    'storage/coordination/leases.ts',
    "await store.commit(partition, { ops: [{ op: 'renew', token, ttlMs }] })",
    "await store.commit(partition, { ops: [{ op: 'claim', owner: '', token: (await store.inspect(partition)).token + 1, ttlMs }] })",
  ),
  fault(
    'a conflict is told to the client',
    'storage/coordination/retry.ts',
    'const MAX_CONFLICTS = 100',
    'const MAX_CONFLICTS = 0',
  ),
  fault(
    'a repeated command has its effect twice',
    'engine/records/idempotency.ts',
    'putRecord(command, { receipt, inFlight: null })',
    'putRecord(command && { ...command, key: receipt.appliedThroughSeq + command.key }, { receipt, inFlight: null })',
  ),
  fault(
    'a state is written during a run',
    'engine/mutations/write-state.ts',
    "guards: [guardThread(threadId, read), { guard: 'free' }, ...guards],",
    'guards: [...guards],',
  ),
  fault(
    'readers take what their process wrote for all there is',
    'engine/log/watchers.ts',
    'log.reader.appended(batchOf(events, before, originsOf(log, token)), log.wakeUps === seen + 1)',
    'log.reader.appended(batchOf(events, before + 1, originsOf(log, token)), true)',
  ),
  fault(
    'runs that wait on a free thread are not looked for',
    'engine/orphaned-work.ts',
    'const orphaned = [...expired, ...due].map(({ partition }) => partition)',
    'const orphaned = [...expired].map(({ partition }) => partition)',
  ),
  fault(
    'a written state leaves the restored one the head',
    'engine/mutations/write-state.ts',
    'restoredCheckpointId: null,\n    restoredWrites: undefined,\n    supersededThroughSeq',
    'supersededThroughSeq',
  ),
  fault(
    'a process that lost its lease goes on saving',
    'storage/checkpointer/fenced.ts',
    'if (inner.withFence && sharesDatabase(inner, store)) return inner.withFence(partition, token)',
    'if (inner.withFence && sharesDatabase(inner, store)) return inner',
  ),
  fault(
    'owners reach the threads of others',
    'core/principal.ts',
    'thing.owner === owner && passes(metadataFilter, thing.metadata)',
    'passes(metadataFilter, thing.metadata)',
  ),
]

export const PLANTED: readonly Fault[] = [...EARLIER, ...FOUND, ...BY_HAND]
