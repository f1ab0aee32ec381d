import type { AgentEvent, EventData } from '../../events/index.ts'
import { retryUnavailable } from '../../storage/checkpointer/retrying.ts'
import { FencedError } from '../../storage/errors.ts'
import type { LaunchedRun, RunContext } from '../context.ts'
import { withoutErrorText } from '../failures.ts'
import type { Appender } from '../log/appender.ts'
import { interruptIdOf, type RecordedEvent } from '../log/frame.ts'
import type { RunUsage } from '../observe.ts'
import { guardThread, type OpenInterrupt, putThread } from '../records/records.ts'
import { retryConflicts } from '../records/update.ts'
import type { Leftover } from './outcome.ts'
import { noteFailure, type StorageHealth } from './saver/watched-saver.ts'

/** Passes an attempt's events to the log, and records the interrupts and token counts in them. */
export function createRecorder(
  context: RunContext,
  { run, thread, records }: LaunchedRun,
  appender: Appender,
  storage: StorageHealth,
  retract: ((event: AgentEvent) => readonly RecordedEvent[]) | undefined,
) {
  const announced = new Map(thread.interrupts.map((interrupt) => [interrupt.id, interrupt]))
  const raised = new Map<string, OpenInterrupt>()
  let usage: RunUsage | null = null
  let atBreakpoint = false

  function record(event: AgentEvent): Promise<void> | undefined {
    const { namespace } = event
    if (namespace.length === 0 && event.method === 'lifecycle') {
      atBreakpoint ||= event.data.event === 'interrupted'
      return undefined
    }
    if (retract) for (const taken of retract(event)) void appender.push(taken)
    if (event.method === 'messages') usage = withUsage(usage, event.data)
    const asked = event.method === 'input.requested' ? event : undefined
    const id = asked && interruptIdOf(asked)
    if (id === undefined) return appender.push(withoutErrorText(context, event, storage.failed))
    const before = announced.get(id)
    const interrupt = before ?? { id, runId: run.runId, namespace, value: asked!.data.payload }
    announced.set(id, interrupt)
    raised.set(id, interrupt)
    // A client that has seen the interrupt would list it twice.
    return before ? undefined : announce(event, interrupt)
  }

  /**
   * Writes an interrupt to the thread's record together with its event, because clients answer it as soon as
   * they see it.
   */
  async function announce(event: AgentEvent, interrupt: OpenInterrupt): Promise<void> {
    const { threadId } = run
    try {
      await retryConflicts(async () => {
        const now = (await retryUnavailable(context.retryForMs, records.get))?.thread
        if (!now) throw new FencedError('The thread was deleted.')
        const others = now.record.interrupts.filter(({ id }) => id !== interrupt.id)
        await records.commit([putThread({ ...now.record, interrupts: [...others, interrupt] })], (ops) =>
          appender.commit([event], [guardThread(threadId, now)], ops),
        )
      })
    } catch (error) {
      noteFailure(storage, error)
      throw error
    }
  }

  return { record, leftover: (): Leftover => ({ raised: [...raised.values()], atBreakpoint, usage }) }
}

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
