import { expect } from 'vitest'
import { topicOf } from '../../src/engine/log/frame.ts'
import { loadRun, loadThread } from '../../src/engine/records/records.ts'
import type { CheckpointTuple } from '../../src/storage/checkpointer/checkpointer.ts'
import type { OpenedStorage } from '../../src/storage/open.ts'
import { isEndOf, tokenOf, type WireEvent } from '../kit/events.ts'
import type { Token } from './agents.ts'
import { rootState } from './follower.ts'

export interface Logged extends WireEvent {
  readonly runId: string
}

const decoder = new TextDecoder()

/** Reads a thread's whole log from the store itself. */
export async function readLog({ store }: OpenedStorage, threadId: string): Promise<Logged[]> {
  const log: Logged[] = []
  for (;;) {
    const batch = await store.read(threadId, { after: log.length })
    if (batch.count === 0) return log
    expect(batch.first).toBe(log.length + 1)
    for (let i = 0; i < batch.count; i++) {
      const origin = batch.origins[batch.originOf[i]!]!
      const frame = decoder.decode(batch.bytes.subarray(batch.offsets[i], batch.offsets[i + 1]))
      const event = JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as WireEvent
      expect(event.event_id).toBe(`${origin.token}-${batch.first + i}`)
      log.push({ ...event, runId: topicOf(origin).runId })
    }
  }
}

/**
 * Expects what must hold of every log. Its seqs are 1 to n. No writer's event follows one of a later writer. Each run begins
 * once and ends at most once, nothing of it follows its end, and two runs never mix.
 */
export function expectSoundLog(log: readonly Logged[]): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => i + 1))
  const tokens = log.map(tokenOf)
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b))
  const order = log.map(({ runId }) => runId).filter((run, i, all) => run !== all[i - 1])
  expect(new Set(order).size, `runs of a thread take turns: ${order}`).toBe(order.length)
  for (const run of order) {
    const own = log.filter(({ runId }) => runId === run)
    expect(rootState(own[0]!)).toEqual({ run, state: 'running' })
    expect(own.filter((event) => rootState(event)?.state === 'running').length).toBe(1)
    const ends = own.filter(isEndOf(run))
    expect(ends.length).toBeLessThanOrEqual(1)
    if (ends.length === 1) expect(own.at(-1)).toBe(ends[0])
  }
}

/** Expects that the run ended exactly once, and gives how. */
export function endOf(log: readonly Logged[], run: string): unknown {
  const ends = log.filter(isEndOf(run))
  expect(ends.length, `ends of run ${run}`).toBe(1)
  return rootState(ends[0]!)!.state
}

/** The error in the run's last event. */
export const whyOf = (log: readonly Logged[], run: string): string =>
  String(log.findLast(isEndOf(run))?.params.data.error)

/** How many processes the run may have lost. */
export async function lossesOf({ store }: OpenedStorage, threadId: string, run: string): Promise<number> {
  const { attempts, excused = [] } = (await loadRun(store, threadId, run))!.record
  return attempts - excused.length
}

/** Expects that every event a subscriber got is in the log, unchanged. */
export function expectKept(log: readonly Logged[], seen: readonly WireEvent[]): void {
  for (const event of seen) {
    const { runId: _, ...kept } = log[event.seq - 1]!
    expect(kept).toEqual(event)
  }
}

/** Expects that the tokens of a run of `tokens` are 0, 1, 2, … and come from one process. Gives how many there are. */
export function expectOwnTokens(log: readonly Logged[], run: string): number {
  const own = tokensOf(log, run)
  expect(own.map(({ n }) => n)).toEqual(own.map((_, i) => i))
  expect(new Set(own.map(({ pid }) => pid)).size).toBeLessThanOrEqual(1)
  return own.length
}

/** Expects that a run which was taken over never came back to an earlier process, and that each fencing token belongs to one process. */
export function expectHandedOn(log: readonly Logged[], run: string): void {
  const own = log.filter((event) => event.runId === run && event.method === 'custom')
  const writers = own.map((event) => `${tokenOf(event)} ${pidOf(event)}`)
  const turns = writers.filter((writer, i) => writer !== writers[i - 1])
  expect(new Set(turns).size, turns.join()).toBe(turns.length)
}

const pidOf = (event: Logged): number => payloadOf(event).pid
const payloadOf = ({ params }: Logged): Token => params.data.payload as Token

const tokensOf = (log: readonly Logged[], run: string): readonly Token[] =>
  log.filter((event) => event.runId === run && event.method === 'custom').map(payloadOf)

/** Expects one chain, in which no process writes again after another one did, as in a thread of one run. Gives its newest log. */
export async function expectOneChain(storage: OpenedStorage, threadId: string): Promise<readonly string[]> {
  const log = await expectChain(storage, threadId)
  const turns = log.map((entry) => entry.split('@')[1]).filter((pid, i, all) => pid !== all[i - 1])
  expect(new Set(turns).size, log.join()).toBe(turns.length)
  return log
}

/**
 * Expects that the checkpoints of a thread of `steps` are one chain without branches, and that each has at most one step more
 * than the one before. Gives the newest state's log.
 */
export async function expectChain(
  { checkpointer }: OpenedStorage,
  threadId: string,
): Promise<readonly string[]> {
  const tuples: CheckpointTuple[] = []
  const chain: { id: string; parent: string | undefined; log: readonly string[] }[] = []
  for await (const tuple of checkpointer.list({ configurable: { thread_id: threadId, checkpoint_ns: '' } })) {
    tuples.push(tuple)
    chain.unshift({
      id: tuple.checkpoint.id,
      parent: tuple.parentConfig?.configurable?.checkpoint_id as string | undefined,
      log: (tuple.checkpoint.channel_values.log ?? []) as string[],
    })
  }
  for (const [i, { parent, log }] of chain.entries()) {
    expect(parent, `parent of checkpoint ${i} of ${threadId}:\n${lines(tuples)}`).toBe(chain[i - 1]?.id)
    const before = chain[i - 1]?.log ?? []
    expect(log.slice(0, before.length)).toEqual(before)
    expect(log.length - before.length).toBeLessThanOrEqual(1)
  }
  return chain.at(-1)?.log ?? []
}

/**
 * Expects that the state of a thread without forks has the checkpoints of all runs that were completed, and none of a run that was
 * rolled back.
 */
export async function expectLineage(
  { store, checkpointer }: OpenedStorage,
  threadId: string,
  runs: Iterable<string>,
): Promise<void> {
  const tuples = new Map<string, CheckpointTuple>()
  for await (const tuple of checkpointer.list({ configurable: { thread_id: threadId, checkpoint_ns: '' } }))
    tuples.set(tuple.checkpoint.id, tuple)
  const thread = (await loadThread(store, threadId))!.record
  const writers = new Set<unknown>()
  let id = thread.restoredCheckpointId ?? tuples.keys().next().value
  let of = `the head of ${threadId}`
  while (id !== undefined) {
    const tuple = tuples.get(id)
    if (!tuple)
      throw new Error(`${of} is checkpoint ${id}, which does not exist:\n${lines([...tuples.values()])}`)
    const { metadata, parentConfig }: CheckpointTuple = tuple
    of = `the parent of checkpoint ${id} of ${threadId}`
    writers.add((metadata as { readonly run_id?: unknown } | undefined)?.run_id)
    id = parentConfig?.configurable?.checkpoint_id as string | undefined
  }
  for (const run of runs) {
    const { status, cancel } = (await loadRun(store, threadId, run))!.record
    if (status === 'success') expect(writers.has(run), `completed run ${run} in ${threadId}`).toBe(true)
    if (status === 'interrupted' && cancel === 'rollback')
      expect(writers.has(run), `undone run ${run} in ${threadId}`).toBe(false)
  }
}

/** The steps in a state's log without their processes: `0`, `1`, `2=yes`, … */
export const stepsOf = (log: readonly string[]): readonly string[] => log.map((entry) => entry.split('@')[0]!)

/** The median and the maximum of some durations, in seconds. */
export function spread(ms: readonly number[]): string {
  const sorted = [...ms].sort((a, b) => a - b)
  const at = (share: number) => ((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) / 1_000).toFixed(2)
  return `p50 ${at(0.5)} s, max ${at(1)} s`
}

/** What is left of a thread. */
export async function leftoversOf(
  { store, checkpointer }: OpenedStorage,
  threadId: string,
): Promise<readonly string[]> {
  const found: string[] = []
  if (await store.get(threadId, 'threads', threadId)) found.push('thread')
  for (const collection of ['threads', 'runs', 'commands']) {
    const { docs } = await store.list(collection, { partition: threadId })
    found.push(...docs.map(({ id }) => `${collection} ${id}`))
  }
  const { count } = await store.read(threadId, { after: 0 })
  if (count > 0) found.push(`${count} events`)
  if ((await store.inspect(threadId)).lease) found.push('lease')
  for await (const { checkpoint } of checkpointer.list({ configurable: { thread_id: threadId } })) {
    found.push(`checkpoint ${checkpoint.id}`)
  }
  return found
}

/** Checkpoints in words, for who looks for a fault. */
const lines = (tuples: readonly CheckpointTuple[]): string =>
  tuples
    .map(({ checkpoint: { id }, metadata, parentConfig }) => {
      const { step, source, run_id } = Object(metadata)
      return `${id} after ${parentConfig?.configurable?.checkpoint_id}: step ${step}, ${source}, run ${run_id}`
    })
    .join('\n')
