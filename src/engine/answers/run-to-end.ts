import { uuid7 } from '../../core/ids.ts'
import { decodeMessage, type Message, textOf } from '../../messages/index.ts'
import { itemsOf } from '../../messages/record.ts'
import type { ThreadRecord } from '../records/records.ts'
import type { Answers, RunRequest, RunResult, ThreadAddress, WholeRun, WholeRunRequest } from '../requests.ts'

/** The methods of the engine that it needs. */
interface Runs {
  start(request: RunRequest): Promise<{ readonly runId: string }>
  respond(request: Answers): Promise<{ readonly runId: string }>
  wait(run: ThreadAddress & { readonly runId: string }): Promise<RunResult>
  findThread(thread: ThreadAddress): Promise<ThreadRecord | undefined>
  readState(thread: ThreadRecord): Promise<{ readonly values: Readonly<Record<string, unknown>> } | undefined>
}

/** Starts a run, waits for its end, and reads the thread. */
export async function runToEnd(engine: Runs, request: WholeRunRequest): Promise<WholeRun> {
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
