import type { StandardSchemaV1 } from '@standard-schema/spec'
import { uuid7 } from '../../ids.ts'
import type { AgentTask, RunInput } from '../agent.ts'
import { AgentInputError } from '../errors.ts'
import type { Channels, CheckpointDetails, Loaded } from './checkpoints.ts'
import { changeOf, readInput } from './input.ts'
import {
  INPUT,
  JOURNAL,
  journalOf,
  type RunJournal,
  type SavedInterrupt,
  savedInterrupts,
} from './journal.ts'
import { own, publicState, reduce, type State } from './state.ts'

/** What an attempt begins with. */
export interface Plan {
  readonly state: State
  /** Write a checkpoint with `channels` beside the state first. Absent: go on from the one that is there. */
  readonly source?: CheckpointDetails['source']
  readonly channels: Channels
  /** What the function gets; absent when there is nothing to run. */
  readonly input?: { readonly value: unknown }
  /** Of an earlier attempt of this run, if there was one. */
  readonly record?: RunJournal
  /** What that attempt asked and nobody has answered. It stays open until this attempt ends. */
  readonly open: readonly SavedInterrupt[]
}

type Schema = StandardSchemaV1<unknown, unknown> | undefined

/** @throws AgentInputError before anything was written. */
export async function plan(schema: Schema, task: AgentTask, base: Loaded | undefined): Promise<Plan> {
  const { start, checkpointId } = task
  if (!base && checkpointId !== undefined)
    throw new AgentInputError(`There is no checkpoint ${checkpointId}.`)
  const state = base ? publicState(base.channels) : {}
  if (start.kind === 'resume') return planAnswer(schema, start, state, base)
  if (start.value !== null && start.value !== undefined) return planInput(schema, start.value, state)
  if (!base)
    throw new AgentInputError('There is nothing to continue: the thread is empty and the input is null.')
  return planAgain(schema, state, base, checkpointId !== undefined)
}

async function planInput(schema: Schema, raw: unknown, state: State): Promise<Plan> {
  const value = await readInput(schema, raw)
  const next = reduce(state, changeOf(raw), uuid7)
  return { state: next, source: 'input', channels: { [INPUT]: own(raw) }, input: { value }, open: [] }
}

/** The function runs again from what the thread has: after a failure, a cancel, or as a fork. */
async function planAgain(schema: Schema, state: State, base: Loaded, fork: boolean): Promise<Plan> {
  const { [INPUT]: raw, [JOURNAL]: record } = base.channels
  const channels = {
    ...(raw !== undefined && { [INPUT]: raw }),
    ...(record !== undefined && { [JOURNAL]: record }),
  }
  const source = fork ? ({ source: 'fork' } as const) : undefined
  if (raw === undefined) return { state, ...source, channels, open: [] }
  const value = await readInput(schema, raw)
  // A fork of a run's first checkpoint is another run: it gets ids of its own.
  if (fork && record === undefined) return { state, ...source, channels, input: { value }, open: [] }
  const again = {
    input: { value },
    record: journalOf(base.channels, base.id),
    open: savedInterrupts(base.tuple),
  }
  return { state, ...source, channels, ...again }
}

async function planAnswer(
  schema: Schema,
  { answers, update, goto }: Extract<RunInput, { kind: 'resume' }>,
  state: State,
  base: Loaded | undefined,
): Promise<Plan> {
  const raw = base?.channels[INPUT]
  const open = base ? savedInterrupts(base.tuple) : []
  if (!base || raw === undefined || open.length === 0)
    throw new AgentInputError('The agent waits for no answer.')
  if (goto !== undefined && goto !== null) throw new AgentInputError('This agent has no nodes to go to.')
  const unknown = Object.keys(answers).find((id) => !open.some((interrupt) => interrupt.id === id))
  if (unknown !== undefined) throw new AgentInputError(`The agent does not wait for an answer to ${unknown}.`)
  const before = journalOf(base.channels, base.id)
  const given = open
    .filter(({ id }) => Object.hasOwn(answers, id))
    .map(({ id, path }) => [path, own(answers[id])] as const)
  const record = { ...before, answers: { ...before.answers, ...Object.fromEntries(given) } }
  const value = await readInput(schema, raw)
  return {
    state: reduce(state, update, uuid7),
    source: 'loop',
    channels: { [INPUT]: raw, [JOURNAL]: record },
    input: { value },
    record,
    open: open.filter(({ id }) => !Object.hasOwn(answers, id)),
  }
}
