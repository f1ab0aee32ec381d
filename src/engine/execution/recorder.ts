import {
  type AgentEvent,
  createOpenMessages,
  type EventData,
  isEnd,
} from '../../messages/thread-events/index.ts'
import { retryUnavailable } from '../../storage/coordination/retry.ts'
import { FencedError } from '../../storage/errors.ts'
import type { LaunchedRun, RunContext } from '../context.ts'
import { noteFailure, type StorageHealth, withoutErrorText } from '../failures.ts'
import type { Appender } from '../log/appender.ts'
import { interruptIdOf, type RecordedEvent, UNUSED } from '../log/frame.ts'
import type { RunUsage } from '../observe.ts'
import { guardThread, type OpenInterrupt } from '../records/records.ts'
import { putThread, retryConflicts } from '../records/thread.ts'
import { type Leftover, supersededEnd } from './outcome.ts'

/** Passes an attempt's events to the log, and records the interrupts and token counts in them. */
export function createRecorder(
  context: RunContext,
  launched: LaunchedRun,
  appender: Appender,
  storage: StorageHealth,
  retract: ((event: AgentEvent) => readonly RecordedEvent[]) | undefined,
) {
  const announced = new Map(launched.thread.interrupts.map((interrupt) => [interrupt.id, interrupt]))
  const raised = new Map<string, OpenInterrupt>()
  let usage: RunUsage | null = null
  let atBreakpoint = false
  const open = createOpenMessages((event: AgentEvent<'messages'>) => event)

  /**
   * Ends the messages that a task left open: its model call failed and was repeated, or its output was not
   * used.
   */
  function endOpen(task: readonly string[]): void {
    for (const { namespace, node, data } of open.all()) {
      if (!task.every((segment, at) => segment === namespace[at])) continue
      const end = supersededEnd({ namespace, node, callId: data.run_id }, NOT_KEPT, UNUSED)
      open.of(end as AgentEvent<'messages'>)
      void appender.push(end)
    }
  }

  function record(event: AgentEvent): Promise<void> | undefined {
    const { namespace } = event
    if (namespace.length === 0 && event.method === 'lifecycle') {
      atBreakpoint ||= event.data.event === 'interrupted'
      return undefined
    }
    for (const taken of retract?.(event) ?? []) void appender.push(taken)
    if (event.method === 'messages') {
      usage = withUsage(usage, event.data)
      // Most events are deltas.
      if (event.data.event === 'message-start' || isEnd(event.data)) open.of(event)
    } else if (event.method === 'tasks' && hasEnded(event.data))
      endOpen([...namespace, `${event.data.name}:${event.data.id}`])
    const asked = event.method === 'input.requested' ? event : undefined
    const id = asked && interruptIdOf(asked)
    if (id === undefined) return appender.push(withoutErrorText(context, event, storage.failed))
    const before = announced.get(id)
    const interrupt = before ?? { id, runId: launched.run.runId, namespace, value: asked!.data.payload }
    for (const known of [announced, raised]) known.set(id, interrupt)
    // A client that has seen the interrupt would list it twice.
    if (before) return undefined
    return announce(context, launched, appender, event, interrupt).catch((error) => {
      noteFailure(storage, error)
      throw error
    })
  }

  return {
    record,
    /** Ends all messages without an end, at the end of the run. */
    endMessages: () => endOpen([]),
    leftover: (): Leftover => ({ raised: [...raised.values()], atBreakpoint, usage }),
  }
}

/**
 * Writes an interrupt to the thread's record together with its event, because clients answer it as soon as
 * they see it.
 */
async function announce(
  { retryForMs }: RunContext,
  { run, records }: LaunchedRun,
  appender: Appender,
  event: AgentEvent,
  interrupt: OpenInterrupt,
): Promise<void> {
  await retryConflicts(async () => {
    const now = (await retryUnavailable(retryForMs, records.get))?.thread
    if (!now) throw new FencedError('The thread was deleted.')
    const others = now.record.interrupts.filter(({ id }) => id !== interrupt.id)
    await records.commit([putThread({ ...now.record, interrupts: [...others, interrupt] })], (ops) =>
      appender.commit([event], [guardThread(run.threadId, now)], ops),
    )
  })
}

const NOT_KEPT = 'The model call that was writing this message failed, or its output is not used.'

/** Whether a task has a result or an error. */
const hasEnded = ({ result, error }: EventData['tasks']): boolean =>
  result !== undefined || (error !== undefined && error !== null)

/** Adds the token counts at the end of a message. */
function withUsage(before: RunUsage | null, data: EventData['messages']): RunUsage | null {
  if (data.event !== 'message-finish' || !data.usage) return before
  // Events of agents are not validated.
  const { input_tokens: input, output_tokens: output }: Partial<typeof data.usage> = data.usage
  return {
    inputTokens: (before?.inputTokens ?? 0) + (typeof input === 'number' ? input : 0),
    outputTokens: (before?.outputTokens ?? 0) + (typeof output === 'number' ? output : 0),
  }
}
