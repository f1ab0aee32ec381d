import type { GraphConfig, PendingInterrupt, RunInput, StreamModesRun } from '../../agents/agent.ts'
import type {
  Committed,
  Doc,
  DocKey,
  Inspection,
  Json,
  Op,
  PartitionState,
  Store,
} from '../../storage/store/store.ts'

/** What happens to a thread that has not changed for some time. */
export interface ThreadTtl {
  /** The time after the thread's last change, in minutes. */
  readonly minutes: number
  /**
   * `delete` deletes the thread; `keep_latest` deletes its earlier checkpoints and keeps its newest state,
   * again after each change. Default: `delete`.
   */
  readonly strategy?: 'delete' | 'keep_latest' | undefined
}

/**
 * A thread, with everything that decides which run may start on it. A single document, so that one version
 * guards the decision.
 */
export interface ThreadRecord {
  readonly threadId: string
  /**
   * The owner of the principal that created it, as `ownerOf` encodes it. Null on a server without
   * authentication.
   */
  readonly owner: string | null
  /** The assistant that the first run bound the thread to. */
  readonly assistantId: string | null
  readonly title: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly status: 'idle' | 'busy' | 'interrupted' | 'error'
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  /** When a run last ended or a state was last written. */
  readonly stateUpdatedAt: number
  /** The run that holds the thread, from its start to its terminal event. */
  readonly activeRunId: string | null
  /**
   * The newest run that has started. Its root events are replayed to late subscribers, those of earlier runs
   * are not.
   */
  readonly lastRunId: string | null
  /**
   * The answer of that run, if it is kept. If the thread is interrupted, the answer with the open questions.
   */
  readonly lastTaskId?: string | undefined
  /** The waiting runs, next one first. */
  readonly queue: readonly QueuedRun[]
  /**
   * The open interrupts. While a run is active: those that it has announced, and those that clients keep
   * because the run was started to answer others.
   */
  readonly interrupts: readonly OpenInterrupt[]
  /** The checkpoint that a rollback restored. Valid until the next checkpoint is written. */
  readonly restoredCheckpointId: string | null
  /** The pending writes of that checkpoint, without those of the run that was undone. Absent: all of them. */
  readonly restoredWrites?: readonly KeptWrite[] | undefined
  /**
   * Events up to this sequence number describe state that was rolled back, or an abandoned branch. New
   * clients only get the status events among them.
   */
  readonly supersededThroughSeq: number
  /**
   * The latest runs that did not finish. Their last message may be incomplete and in no state, so new clients
   * do not get their messages.
   */
  readonly unfinishedRunIds: readonly string[]
  /**
   * The fencing tokens of the latest attempts that were lost before their run ended. New clients do not get
   * their messages: the state contains those that were kept, and the next attempt writes the others again.
   */
  readonly lostTokens: readonly number[]
  /** The error of the last run, as clients see it. */
  readonly error: string | null
  readonly ttl?: ThreadTtl | undefined
  /**
   * Its `updatedAt` when `ttl` last shortened it to its newest state. It does not expire again until it
   * changes.
   */
  readonly shortenedAt?: number | undefined
  /** True while the thread is being deleted: nothing may start on it any more. */
  readonly deleting: boolean
  /** It is deleted when no run holds it or waits on it. */
  readonly temporary?: true | undefined
  /** The status to restore after the waiting runs that make it `busy` are gone. */
  readonly restStatus?: ThreadRecord['status'] | undefined
  /** The default config of its runs. Absent: none. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
}

/** A run that waits on a thread. */
export interface QueuedRun {
  readonly runId: string
  /** The interrupts that it will answer. No other run may answer them in the meantime. */
  readonly answers: readonly string[]
  /**
   * The earliest start, by the store's clock in milliseconds since 1970. Absent if it may start immediately.
   */
  readonly startsAt?: number | undefined
}

/** An interrupt that waits for an answer. */
export interface OpenInterrupt extends PendingInterrupt {
  /**
   * The run whose event announced it. Empty if clients do not list it, because it was not announced, or
   * because their answer was lost.
   */
  readonly runId: string
  readonly namespace: readonly string[]
}

/** The status of a run. `pending` runs wait for their turn. */
export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'interrupted'

/** The record of a run. Times are in milliseconds since 1970. */
export interface RunRecord {
  readonly runId: string
  readonly threadId: string
  readonly assistantId: string
  readonly status: RunStatus
  /** Once the run has ended, it has no input, an empty `config` and `rollbackPoint` null. */
  readonly start: RunInput
  /** The checkpoint to fork from; `EMPTY` is the state before the first checkpoint. */
  readonly checkpointId: string | null
  readonly config: StoredConfig
  readonly multitaskStrategy: MultitaskStrategy
  readonly createdAt: number
  /** When its first attempt began. Null while it waits. */
  readonly startedAt: number | null
  /** The W3C `traceparent` of the request that started it. */
  readonly traceparent: string | null
  /** The requested stop: `interrupt` keeps what the run wrote, `rollback` undoes it. */
  readonly cancel: CancelAction | null
  /** The sequence number of its `running` event. Null while it waits. */
  readonly firstSeq: number | null
  /** How often it was started: more than once if a process was lost. */
  readonly attempts: number
  /**
   * Those of its attempts, numbered from 1, that did not end with the loss of their process: it left the run
   * to others, renewed its lease too late, or could not reach the store. Absent: none.
   */
  readonly excused?: readonly number[] | undefined
  /** What a rollback restores. Null until the run starts. */
  readonly rollbackPoint: RollbackPoint | null
  /** The reason of its failure, as clients see it. */
  readonly error: string | null
  /** The name of the error's class if clients see its text, otherwise `Error`. */
  readonly errorName?: string | undefined
  /** The kept answer that it belongs to. Absent if it was not started as part of one. */
  readonly task?: AnswerLink | undefined
  /** Absent if a graph runs in the mode of the streaming protocol. */
  readonly classic?: StreamModesRun | undefined
  /**
   * Data that the face that started it stores with it. The record of a run with details is kept as long as
   * its thread.
   */
  readonly details?: Json | undefined
  /** How it ended. Absent before, and for runs that ended in earlier versions. */
  readonly end?: RunEnd | undefined
}

/** A value in place of a checkpoint id. No checkpoint has this id. */
export const EMPTY = ''

/** The end of a run. */
export interface RunEnd {
  /** Milliseconds since 1970. */
  readonly at: number
  /**
   * A `RunEndReason`; `timed_out` if it took longer than `limits.runMs`; null if it waits for answers or to
   * be continued.
   */
  readonly reason: string | null
}

/** The state of an answer, with the names of A2A's task states. */
export type AnswerState =
  | 'submitted'
  | 'working'
  | 'input-required'
  | 'completed'
  | 'canceled'
  | 'failed'
  | 'rejected'

/** A run's link to its answer. Documents and lists use the earlier name of answers, which is task. */
export interface AnswerLink {
  /** The id of the answer, which is that of its first run. */
  readonly taskId: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Data that the face that started it stores with it, as plain JSON. */
  readonly details: Json
}

/**
 * An answer: a run, and the runs that continue it. It is written in the commits that change the status of its
 * runs, by any face or instance, and kept as long as its thread.
 */
export interface AnswerRecord extends AnswerLink {
  readonly threadId: string
  readonly assistantId: string
  readonly owner: string | null
  readonly state: AnswerState
  /**
   * Its runs: those that have started, in that order, then the waiting ones. Later runs answer interrupts or
   * add messages. A run that was dropped before it started is not included, unless it is the only one.
   */
  readonly runIds: readonly string[]
  /** The runs that have not ended. */
  readonly openRunIds: readonly string[]
  /** The first sequence number of the run that started last. Null if none has started. */
  readonly firstSeq: number | null
  /** Why it failed, was rejected, or was given up, as clients see it. */
  readonly error: string | null
  /** When the state last changed, in milliseconds since 1970. */
  readonly updatedAt: number
}

/** A pending write of a checkpoint. Those of questions and answers have their value, because it may be replaced. */
export interface KeptWrite {
  readonly taskId: string
  readonly channel: string
  readonly value?: unknown
}

/** The thread before a run. */
export interface RollbackPoint {
  /** The head checkpoint. Null if there was none. */
  readonly checkpointId: string | null
  /** The pending writes of the head checkpoint. */
  readonly writes?: readonly KeptWrite[] | undefined
  readonly interrupts: readonly OpenInterrupt[]
}

/** The config of a run, as it is stored with the run. */
export interface StoredConfig extends GraphConfig {
  readonly configurable: Readonly<Record<string, unknown>>
  readonly recursionLimit?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** The result of the agent's `context` for the request. Default: the agent is called. */
  readonly context?: unknown
}

/** What to do with a run that is started while another one holds the thread. */
export type MultitaskStrategy = 'reject' | 'rollback' | 'interrupt' | 'enqueue'
/** How to cancel a run: `interrupt` keeps what it wrote, `rollback` undoes it. */
export type CancelAction = 'interrupt' | 'rollback'

/**
 * In addition to the cancel actions: `close` ends the run with the server, `hand over` lets another process
 * continue it, and `fenced` means that another process already holds the thread.
 */
export type StopReason = CancelAction | 'close' | 'hand over' | 'fenced'

/** A record with the version that guards its next write. */
export interface Versioned<Record> {
  readonly record: Record
  readonly version: number
}

/** The records of a run and its thread after one commit. */
export interface RunRecords {
  readonly thread: Versioned<ThreadRecord>
  /** Undefined if the run was undone or deleted. */
  readonly run: Versioned<RunRecord> | undefined
  /** The kept answer that the run belongs to. Undefined if there is none. */
  readonly answer: AnswerRecord | undefined
}

/**
 * The records of a run that this process executes, as last written or read. They may be outdated: decisions
 * based on them are committed with their versions as guards, and they are read again after a conflict.
 */
export interface HeldRecords {
  /** The known records, otherwise those read now. Undefined if the thread no longer exists. */
  get(): Promise<RunRecords | undefined>
  /** The known records. */
  known(): RunRecords | undefined
  /**
   * Makes a commit of these ops, and remembers what it wrote. After a failure or a lost response, nothing is
   * known any more.
   */
  commit<Done extends Committed | undefined>(
    ops: readonly Op[],
    write: (ops: readonly Op[]) => Promise<Done>,
  ): Promise<Done>
}

/** How long the record of an ended run stays readable. */
const ENDED_RUN_TTL_MS = 24 * 60 * 60 * 1000

export const loadThread = async (
  store: Store,
  threadId: string,
): Promise<Versioned<ThreadRecord> | undefined> =>
  versioned(await store.get(threadId, 'threads', threadId), readThread)

/** The records of many threads, in one read, in the requested order. */
export const loadThreads = async (
  store: Store,
  threadIds: readonly string[],
): Promise<readonly (ThreadRecord | undefined)[]> => {
  const places = threadIds.map((threadId) => ({ partition: threadId, id: threadId }))
  return (await store.getMany('threads', places)).map((doc) => versioned(doc, readThread)?.record)
}

export interface Inspected {
  readonly state: PartitionState
  /** The store's clock, advanced since the read, in milliseconds since 1970. */
  readonly now: () => number
  readonly read: Versioned<ThreadRecord> | undefined
  /** The additional documents that were requested. */
  readonly docs: readonly (Doc | undefined)[]
}

/** A thread's record together with the state of its partition, and additional documents of the partition. */
export const loadWithState = async (
  store: Store,
  threadId: string,
  ...others: readonly DocKey[]
): Promise<Inspected> =>
  inspected(await store.inspect(threadId, [{ collection: 'threads', id: threadId }, ...others]))

/** The same, from an inspection that was just made: the thread's record, then the others. */
export function inspected({ docs, ...state }: Inspection): Inspected {
  const readAt = performance.now()
  const now = () => state.now + Math.round(performance.now() - readAt)
  return { state, now, read: versioned(docs[0], readThread), docs: docs.slice(1) }
}

export const loadRun = async (
  store: Store,
  threadId: string,
  runId: string,
): Promise<Versioned<RunRecord> | undefined> => versioned(await store.get(threadId, 'runs', runId), readRun)

export const loadAnswer = async (
  store: Store,
  threadId: string,
  taskId: string,
): Promise<AnswerRecord | undefined> =>
  versioned(await store.get(threadId, 'answers', taskId), readAnswer)?.record

type Read<Record> = (doc: Pick<Doc, 'value'>) => Record

// Values are plain JSON by construction: they come from JSON requests and from this file's own types.
export const readThread: Read<ThreadRecord> = ({ value }) => value as unknown as ThreadRecord
export const readRun: Read<RunRecord> = ({ value }) => value as unknown as RunRecord
export const readAnswer: Read<AnswerRecord> = ({ value }) => value as unknown as AnswerRecord

export const versioned = <Record>(doc: Doc | undefined, read: Read<Record>): Versioned<Record> | undefined =>
  doc && { record: read(doc), version: doc.version }

/**
 * Called only by `transition`, when the status changes, and by `requestCancel` and `putInAnswer`, which do
 * not change it.
 */
export const putRun = (run: RunRecord): Op => ({
  op: 'put',
  collection: 'runs',
  id: run.runId,
  value: run as unknown as Json,
  index: { createdAt: run.createdAt },
  ...(isEnded(run) && run.details === undefined && { ttlMs: ENDED_RUN_TTL_MS }),
})

export const removeRun = ({ runId }: Pick<RunRecord, 'runId'>): Op => ({
  op: 'delete',
  collection: 'runs',
  id: runId,
})

/** A run whose current attempt does not end with the loss of its process. */
export const excuse = (run: RunRecord): RunRecord => {
  const { attempts, excused = [] } = run
  return excused.includes(attempts) ? run : { ...run, excused: [...excused, attempts] }
}

/** Notes that an active run is left to other processes. */
export const putExcused = (run: RunRecord): Op => putRun(excuse(run))

/** Asks an active run to stop. Its status changes when it has stopped. */
export const requestCancel = (run: RunRecord, cancel: CancelAction): Op => putRun({ ...run, cancel })

/** Makes a run part of an answer that it was not started as. */
export const putInAnswer = (run: RunRecord, task: AnswerLink): Op => putRun({ ...run, task })

/** A rollback takes precedence over an interrupt, whichever came first. */
export const strongerCancel = (before: CancelAction | null, now: CancelAction): CancelAction =>
  before === 'rollback' ? before : now

/** The status of a thread without the runs that wait on it. */
export const restStatusOf = ({ status, restStatus }: ThreadRecord): ThreadRecord['status'] =>
  restStatus ?? status

/** The status of a thread without an active run, where a run may be waiting. */
export const resting = (
  { restStatus }: Pick<ThreadRecord, 'restStatus'>,
  status: ThreadRecord['status'],
): Pick<ThreadRecord, 'restStatus'> | Pick<ThreadRecord, 'status'> =>
  restStatus ? { restStatus: status } : { status }

/**
 * The thread without some of its waiting runs. Their answers are lost, so that their interrupts must be
 * announced again.
 */
export function withoutQueued(thread: ThreadRecord, runIds: readonly string[]): ThreadRecord {
  const isGone = ({ runId }: QueuedRun): boolean => runIds.includes(runId)
  const lost = new Set(thread.queue.filter(isGone).flatMap(({ answers }) => answers))
  const queue = thread.queue.filter((queued) => !isGone(queued))
  return {
    ...thread,
    ...(queue.length === 0 && thread.restStatus && { status: thread.restStatus, restStatus: undefined }),
    queue,
    interrupts: thread.interrupts.map((open) => (lost.has(open.id) ? { ...open, runId: '' } : open)),
  }
}

export const isEnded = (run: RunRecord): boolean => run.status !== 'pending' && run.status !== 'running'

export const newThread = (threadId: string, owner: string | null, now: number): ThreadRecord => ({
  threadId,
  owner,
  assistantId: null,
  title: null,
  metadata: {},
  status: 'idle',
  createdAt: now,
  updatedAt: now,
  stateUpdatedAt: now,
  activeRunId: null,
  lastRunId: null,
  queue: [],
  interrupts: [],
  restoredCheckpointId: null,
  supersededThroughSeq: 0,
  unfinishedRunIds: [],
  lostTokens: [],
  error: null,
  deleting: false,
})

/**
 * The index field that orders answers by their last change: those of an owner and assistant, optionally of
 * one thread or state.
 */
export const taskField = (
  {
    owner,
    assistantId,
    threadId,
  }: Pick<AnswerRecord, 'owner' | 'assistantId'> & { threadId?: string | undefined },
  state: AnswerState | 'all' = 'all',
): string => `${state} of ${JSON.stringify([assistantId, owner, threadId])}`

export const putAnswer = (task: AnswerRecord): Op => ({
  op: 'put',
  collection: 'answers',
  id: task.taskId,
  value: task as unknown as Json,
  index: Object.fromEntries(
    [task, { ...task, threadId: undefined }]
      .flatMap((list) => [taskField(list), taskField(list, task.state)])
      .map((field) => [field, task.updatedAt]),
  ),
})

const ENDED: ReadonlySet<AnswerState> = new Set(['completed', 'canceled', 'failed', 'rejected'])

export const isAnswerEnded = ({ state }: Pick<AnswerRecord, 'state'>): boolean => ENDED.has(state)

/** An answer before its first run. */
export const newAnswer = (
  owner: string | null,
  { threadId, assistantId }: RunRecord,
  { taskId, createdAt, details }: AnswerLink,
): AnswerRecord => ({
  taskId,
  createdAt,
  details,
  threadId,
  assistantId,
  owner,
  state: 'submitted',
  runIds: [],
  openRunIds: [],
  firstSeq: null,
  error: null,
  updatedAt: createdAt,
})

/** Guards a thread's next write with what was read: its version, or its absence. */
export const guardThread = (threadId: string, read: Versioned<ThreadRecord> | undefined) =>
  read
    ? ({ guard: 'version', collection: 'threads', id: threadId, version: read.version } as const)
    : ({ guard: 'absent', collection: 'threads', id: threadId } as const)

/** Guards a run's next write with the version that was read. */
export const guardRun = ({ record, version }: Versioned<RunRecord>) =>
  ({ guard: 'version', collection: 'runs', id: record.runId, version }) as const
