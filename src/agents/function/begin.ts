import type { StandardSchemaV1 } from '@standard-schema/spec'
import { uuid7 } from '../../core/ids.ts'
import { defined } from '../../messages/record.ts'
import type { AgentTask, RunInput, StateAddress } from '../agent.ts'
import { AgentInputError, AgentRejection, FOR_CLIENTS } from '../errors.ts'
import { requestIn } from '../model-request.ts'
import { callsOfFunction, isPartial, missingResults } from '../open-calls.ts'
import {
  type Channels,
  type CheckpointChain,
  type CheckpointDetails,
  createCheckpointChain,
  type LoadedCheckpoint,
  loadCheckpoint,
} from './checkpoints.ts'
import type { EventQueue } from './event-queue.ts'
import { channelsOf, entriesOf, type LogEntry, openCallLog, withOutsideChange } from './journal/call-log.ts'
import {
  derivedId,
  INITIAL,
  INPUT,
  initialOf,
  JOURNAL,
  journalOf,
  openJournal,
  type RunJournal,
  retriedCalls,
  type SavedInterrupt,
  savedInterrupts,
  saveInterrupts,
} from './journal/journal.ts'
import { createNamespaceState, type NamespaceState, NODE } from './namespace-state.ts'
import { type Attempt, createInterrupts, createScope, type Scope } from './scope.ts'
import { changeOf, frozenCopy, messagesOf, publicState, readInput, reduce, type State } from './state.ts'
import type { RunDetails } from './types.ts'

export interface Plan {
  readonly state: State
  /** The state at the start of the run, and the log that leads from it to `state`. */
  readonly initial: State
  readonly entries: readonly LogEntry[]
  readonly retried?: ReadonlySet<string>
  /** The source of a checkpoint to write first. Absent if the run continues from `base`. */
  readonly source?: CheckpointDetails['source'] | undefined
  readonly channels: Channels
  /** The input of the function. Absent if there is nothing to run. */
  readonly input?: { readonly value: unknown }
  /** The journal of an earlier attempt of this run, if there was one. */
  readonly journal?: RunJournal
  /** The newest checkpoint of that attempt, if this one continues from it. */
  readonly head?: string | undefined
  readonly pending: readonly SavedInterrupt[]
}

type Schema = StandardSchemaV1<unknown, unknown> | undefined

/** @throws AgentInputError before anything is written. */
export async function planAttempt(
  schema: Schema,
  task: AgentTask,
  base: LoadedCheckpoint | undefined,
): Promise<Plan> {
  const { start, checkpointId } = task
  if (!base && checkpointId !== undefined)
    throw new AgentInputError(`Checkpoint ${checkpointId} does not exist.`)
  const state = base ? stateOf(base.channels, start) : {}
  const head = checkpointId === undefined ? base?.id : undefined
  if (start.kind === 'resume') return { ...(await planResume(schema, start, state, base)), head }
  if (start.value !== null && start.value !== undefined) return planInput(schema, start.value, state)
  if (!base)
    throw Object.assign(new AgentInputError('The thread is empty, and there is no input.'), {
      [FOR_CLIENTS]: true,
    })
  return { ...(await planContinuation(schema, state, base, checkpointId !== undefined)), head }
}

/**
 * The state of a checkpoint. A run that continues rewrites the messages that a cancel cut off, so they are
 * removed.
 */
function stateOf(channels: Channels, start: RunInput): State {
  const state = publicState(channels)
  if (channels[INPUT] === undefined || (start.kind === 'input' && start.value !== null)) return state
  const before = new Set(messagesOf(initialOf(channels)).map(({ id }) => id))
  const messages = messagesOf(state)
  const kept = messages.filter((message) => !isPartial(message) || before.has(message.id))
  return kept.length === messages.length ? state : Object.freeze({ ...state, messages: Object.freeze(kept) })
}

async function planInput(schema: Schema, raw: unknown, state: State): Promise<Plan> {
  const value = await readInput(schema, raw)
  const change = changeOf(raw)
  const missing = missingResults(messagesOf(state), callsOfFunction, Object(change).messages)
  const answered = missing.length === 0 ? state : reduce(state, { messages: missing }, uuid7)
  const next = reduce(answered, change, uuid7)
  return { ...planOf(next), source: 'input', channels: { [INPUT]: frozenCopy(raw) }, input: { value } }
}

/** A plan in which nothing has happened yet. */
const planOf = (state: State) => ({ state, initial: state, entries: [], pending: [] })

/** Runs the function again from the state of the thread: after a failure, after a cancel, or as a fork. */
async function planContinuation(
  schema: Schema,
  state: State,
  base: LoadedCheckpoint,
  fork: boolean,
): Promise<Plan> {
  const { [INPUT]: raw, [JOURNAL]: saved } = base.channels
  const source = fork ? 'fork' : undefined
  const begun: Plan = { ...planOf(state), source, channels: defined({ [INPUT]: raw }) }
  if (raw === undefined) return begun
  const value = await readInput(schema, raw)
  // A fork of a run's first checkpoint is a different run with its own ids.
  if (fork && saved === undefined) return { ...begun, input: { value } }
  const journal = journalOf(base.channels, base.id)
  const past = pastOf(base, state)
  return {
    state,
    source,
    ...past,
    channels: channelsFor(raw, journal, past),
    input: { value },
    journal,
    pending: savedInterrupts(base.tuple),
  }
}

function pastOf(
  base: LoadedCheckpoint,
  state: State,
  answeredPath?: string,
): Pick<Plan, 'initial' | 'entries' | 'retried'> {
  const initial = initialOf(base.channels)
  const retried = retriedCalls(base.tuple)
  const entries = entriesOf(base.channels, retried)
  return { initial, entries: withOutsideChange(initial, entries, state, answeredPath), retried }
}

/** The channels, in addition to the state, that another attempt needs to continue a run. */
function channelsFor(
  input: unknown,
  journal: RunJournal,
  { initial, entries }: Pick<Plan, 'initial' | 'entries'>,
): Channels {
  return { [INPUT]: input, [JOURNAL]: journal, [INITIAL]: initial, ...channelsOf(entries) }
}

async function planResume(
  schema: Schema,
  { answers, update, goto }: Extract<RunInput, { kind: 'resume' }>,
  state: State,
  base: LoadedCheckpoint | undefined,
): Promise<Plan> {
  const raw = base?.channels[INPUT]
  const pending = base ? savedInterrupts(base.tuple) : []
  if (!base || raw === undefined || pending.length === 0)
    throw new AgentInputError('The agent is not waiting for an answer.')
  if (goto !== undefined && goto !== null)
    throw new AgentInputError('This agent has no nodes, so goto cannot be used.')
  const unknown = Object.keys(answers).find((id) => !pending.some((interrupt) => interrupt.id === id))
  if (unknown !== undefined)
    throw new AgentInputError(`The agent is not waiting for an answer to ${unknown}.`)
  const before = journalOf(base.channels, base.id)
  const given = pending
    .filter(({ id }) => Object.hasOwn(answers, id))
    .map(({ id, path, given }) => [path, { value: frozenCopy(answers[id]), given }] as const)
  const journal = { ...before, answers: { ...before.answers, ...Object.fromEntries(given) } }
  const value = await readInput(schema, raw)
  const next = reduce(state, update, uuid7)
  const past = pastOf(base, next, given[0]?.[0])
  return {
    state: next,
    ...past,
    source: 'loop',
    channels: channelsFor(raw, journal, past),
    input: { value },
    journal,
    pending: pending.filter(({ id }) => !Object.hasOwn(answers, id)),
  }
}

/**
 * The checkpoint from which a subagent continues: the one in the journal, or a newer one from an attempt that
 * was lost before it wrote the journal. The latter was written while `head` was the run's newest checkpoint.
 */
async function loadChild(at: StateAddress, head: string | undefined): Promise<LoadedCheckpoint | undefined> {
  const newest = head === undefined ? undefined : await loadCheckpoint({ ...at, checkpointId: undefined })
  if (newest && newest.tuple.metadata?.parents?.[''] === head) return newest
  return at.checkpointId === undefined ? undefined : loadCheckpoint(at)
}

interface AttemptOptions {
  readonly task: AgentTask
  readonly at: StateAddress
  readonly queue: EventQueue
  readonly signal: AbortSignal
  readonly chain: CheckpointChain
  readonly plan: Plan
  readonly journal: RunJournal
}

/** The scope of the run itself, with the state of its namespace. */
export function openAttempt({ task, at, queue, signal, chain, plan, journal: first }: AttemptOptions): Scope {
  const { runId, onModelCall } = task
  const { seed, answers } = first
  const { state, initial, entries, channels, pending } = plan
  const journal = openJournal(first)
  const subagents: NamespaceState[] = []

  const root = createNamespaceState({
    namespace: [],
    initial: state,
    chain,
    queue,
    log: openCallLog(initial, entries),
    details: () => ({ runId }),
    channels: () => {
      const taken = journal.take()
      return () => ({ [INPUT]: channels[INPUT], [INITIAL]: initial, [JOURNAL]: taken() })
    },
    afterCommit: () => saveInterrupts(chain, pending),
  })

  async function openState(namespace: readonly string[]): Promise<NamespaceState> {
    const key = namespace.join('|')
    const inner: StateAddress = { ...at, checkpointNs: key, checkpointId: journal.child(key) }
    const base = plan.journal && (await loadChild(inner, plan.head))
    const subagent = createNamespaceState({
      namespace,
      initial: base ? publicState(base.channels) : {},
      chain: createCheckpointChain(inner, base),
      queue,
      log: openCallLog({}, base && entriesOf(base.channels, plan.retried)),
      details: () => ({ runId, parents: { '': chain.head()!.id } }),
      channels: () => () => ({}),
      afterCommit: async ({ id }) => journal.setChild(key, id),
    })
    subagents.push(subagent)
    return subagent
  }

  const attempt: Attempt = {
    taskId: derivedId(seed, NODE),
    queue,
    root,
    subagents,
    pending,
    divergence: undefined,
    journal,
    interrupts: createInterrupts(seed, answers),
    seed,
    runId,
    details: detailsOf(task),
    signal,
    onModelCall,
    running: new Set(),
    started: new Set(),
    openState,
  }
  return createScope(attempt, root, { path: '' })
}

function detailsOf({ threadId, runId, assistantId, principal, config, graphStore }: AgentTask): RunDetails {
  return {
    thread: { id: threadId },
    run: { id: runId },
    assistant: { id: assistantId },
    principal,
    config,
    request: requestIn(config.configurable),
    store: graphStore,
    reject(reason) {
      throw new AgentRejection(reason)
    },
  }
}
