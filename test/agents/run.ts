import type { Agent, AgentTask, RunInput, StateSnapshot } from '../../src/agents/agent.ts'
import type { AgentEvent } from '../../src/messages/thread-events/index.ts'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { createGraphStore } from '../../src/storage/graph-store/index.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { turns } from '../kit/wait.ts'

export interface Thread {
  readonly threadId: string
  readonly checkpointer: Checkpointer
}

let threads = 0
let runs = 0

export const newThread = (checkpointer: Checkpointer = memoryCheckpointer()): Thread => ({
  threadId: `thread-${++threads}`,
  checkpointer,
})

export function taskOf(thread: Thread, start: RunInput, details: Partial<AgentTask> = {}): AgentTask {
  return {
    ...thread,
    runId: `run-${++runs}`,
    assistantId: 'agent',
    start,
    config: { configurable: { thread_id: thread.threadId } },
    principal: null,
    graphStore: createGraphStore(memoryStore(), null),
    signal: new AbortController().signal,
    ...details,
  }
}

export const input = (value: unknown): RunInput => ({ kind: 'input', value })
/** An input with one message of the user. */
export const ask = input({ messages: [{ role: 'user', content: 'go', id: 'h' }] })
export const answers = (given: Readonly<Record<string, unknown>>): RunInput => ({
  kind: 'resume',
  answers: given,
})

/** Runs an agent until its stream ends. */
export async function run(
  agent: Agent,
  thread: Thread,
  start: RunInput,
  details?: Partial<AgentTask>,
): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = []
  for await (const event of agent.stream(taskOf(thread, start, details))) events.push(event)
  return events
}

export async function stateOf(agent: Agent, thread: Thread): Promise<StateSnapshot> {
  const state = await agent.getState(thread)
  if (!state) throw new Error('The thread has no state.')
  return state
}

/** One line per event: its method, its namespace (segments cut at `:`), and its event, source or node. */
export function outline(events: readonly AgentEvent[]): readonly string[] {
  return events.map(({ method, namespace, data }) => {
    const { event, source, node } = data as Readonly<Record<string, unknown>>
    const where = namespace.map((segment) => segment.split(':')[0]).join('|')
    return [method, `[${where}]`, event ?? source ?? node].filter(Boolean).join(' ')
  })
}

export interface FlatMessage {
  readonly type: string
  readonly id: string
  readonly content: unknown
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly args: unknown }[]
  readonly [field: string]: unknown
}

export const messagesIn = (values: unknown): readonly FlatMessage[] =>
  (values as { readonly messages?: readonly FlatMessage[] }).messages ?? []

/** Settles after one turn of the event loop. */
export const turn = (): Promise<void> => turns()

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
