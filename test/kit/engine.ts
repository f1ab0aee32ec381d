import { expect, onTestFinished } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import {
  type AgentEngine,
  type AgentEngineOptions,
  type AnswerRecord,
  createAgentEngine,
  type Subscription,
  subscribe,
} from '../../src/engine/index.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { ALL_CHANNELS } from './channels.ts'
import { errorMessage, unexpectedErrors } from './errors.ts'
import { isTerminal, type WireEvent } from './events.ts'
import { parseEvents } from './frames.ts'

/** An engine over memory. Without an `onError` the test fails if the engine reports an error that is no failure of an agent. */
export function engineOf(
  agents: Record<string, Agent>,
  options: Partial<AgentEngineOptions> = {},
): AgentEngine {
  const { errors, reporters } = unexpectedErrors(options.observe)
  if (!options.onError) onTestFinished(() => expect(errors).toEqual([]))
  return createAgentEngine({
    agents,
    store: memoryStore(),
    checkpointer: memoryCheckpointer(),
    errorMessage,
    ...options,
    ...(!options.onError && reporters),
  })
}

export const start = (engine: AgentEngine, threadId: string, value: unknown = {}, rest: object = {}) =>
  engine.start({ threadId, assistantId: 'a', input: value, ...rest })

/** The record of an answer. */
export const recordOf = async (
  engine: AgentEngine,
  answer: Parameters<AgentEngine['findAnswer']>[0],
): Promise<AnswerRecord | undefined> => (await engine.findAnswer(answer))?.record

/** Reads until `done` holds of all events read so far. */
export async function readUntil(
  subscription: Subscription,
  done: (events: readonly WireEvent[]) => boolean,
): Promise<WireEvent[]> {
  const events: WireEvent[] = []
  while (!done(events)) {
    const bytes = await subscription.next()
    if (bytes === undefined) break
    events.push(...parseEvents(bytes))
  }
  return events
}

/** All the thread's events, until `runs` runs have ended. */
export async function transcript(engine: AgentEngine, threadId: string, runs = 1): Promise<WireEvent[]> {
  const subscription = subscribe(engine, {
    threadId,
    filter: { channels: ALL_CHANNELS },
    since: 0,
  })
  try {
    return await readUntil(subscription, (events) => events.filter(isTerminal).length >= runs)
  } finally {
    subscription.cancel()
  }
}
