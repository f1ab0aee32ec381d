import { uuid7 } from '../../ids.ts'
import { decodeMessage, type Message, textOf } from '../../messages/index.ts'
import { itemsOf } from '../../messages/record.ts'
import type { AgentEngine } from '../agent-engine.ts'
import type { Answers, RunRequest, RunResult } from '../requests.ts'

/** A run to wait for: with an input, or with the answers to the questions of an earlier one. */
export type WholeRunRequest = WithNewThread<RunRequest> | WithNewThread<Answers>

type WithNewThread<Request> = Omit<Request, 'threadId'> & {
  /** Default: a new thread. */
  readonly threadId?: string | undefined
}

/** A run that has ended, or waits for answers, with what stands in its thread. */
export interface WholeRun extends RunResult {
  readonly threadId: string
  /** All messages of the thread. */
  readonly messages: readonly Message[]
  /** The text of the last message, or of the one before its tool calls. Empty if the agent has not said anything. */
  readonly text: string
}

/** Starts a run, waits for its end, and reads the thread. */
export async function runToEnd(engine: AgentEngine, request: WholeRunRequest): Promise<WholeRun> {
  const { threadId = uuid7(), principal, ...asked } = request
  const thread = { threadId, principal }
  const { runId } = await ('answers' in asked
    ? engine.respond({ ...asked, ...thread })
    : engine.start({ ...asked, ...thread, input: inputOf(asked.input) }))
  const result = await engine.wait({ ...thread, runId })
  const record = await engine.findThread(thread)
  const state = record && (await engine.readState(record))
  const messages = itemsOf(state?.values.messages).flatMap((message) => decodeMessage(message) ?? [])
  return { threadId, ...result, messages, text: textOf(lastAnswer(messages) ?? { content: [] }) }
}

/** A text is what the user says. */
const inputOf = (input: unknown): unknown =>
  typeof input === 'string' ? { messages: [{ role: 'user', content: input }] } : input

/** What the agent said last since the user spoke. */
function lastAnswer(messages: readonly Message[]): Message | undefined {
  const start = messages.findLastIndex(({ role }) => role === 'user')
  return messages.slice(start + 1).findLast(({ role }) => role === 'assistant')
}
