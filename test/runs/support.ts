import type { Agent, AgentEvent, AgentTask } from '../../src/agents/agent.ts'
import {
  type AgentEngine,
  type AgentEngineOptions,
  createAgentEngine,
  type Subscription,
} from '../../src/runs/index.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'

export const ALL = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
] as const

/** An agent whose every step the test decides. */
export interface Puppet {
  readonly agent: Agent
  /** The tasks it was given, in order. */
  readonly tasks: AgentTask[]
  emit(...events: AgentEvent[]): void
  finish(): void
  fail(error: unknown): void
}

type Step = { readonly event: AgentEvent } | { readonly end: true } | { readonly error: unknown }

export function puppet(overrides: Partial<Agent> = {}): Puppet {
  const steps: Step[] = []
  const tasks: AgentTask[] = []
  let wake = () => {}
  const push = (step: Step) => {
    steps.push(step)
    wake()
  }
  const agent: Agent = {
    resumable: false,
    async *stream(task) {
      tasks.push(task)
      task.signal.addEventListener('abort', () => wake())
      for (;;) {
        const step = steps.shift()
        if (step === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          task.signal.throwIfAborted()
        } else if ('event' in step) {
          yield step.event
        } else if ('error' in step) {
          throw step.error
        } else {
          return
        }
      }
    },
    getState: async () => undefined,
    async *getHistory() {},
    updateState: async () => ({ checkpointId: 'none' }),
    ...overrides,
  }
  return {
    agent,
    tasks,
    emit: (...events) => {
      for (const event of events) push({ event })
    },
    finish: () => push({ end: true }),
    fail: (error) => push({ error }),
  }
}

export const engineOf = (
  agents: Record<string, Agent>,
  options: Partial<AgentEngineOptions> = {},
): AgentEngine =>
  createAgentEngine({
    agents,
    store: memoryStore(),
    checkpointer: memoryCheckpointer(),
    onError: (error) => {
      throw error
    },
    ...options,
  })

export const custom = (payload: unknown, namespace: readonly string[] = []): AgentEvent => ({
  method: 'custom',
  namespace,
  data: { payload },
})

export const start = (engine: AgentEngine, threadId: string, value: unknown = {}, rest: object = {}) =>
  engine.start({ threadId, assistantId: 'a', input: value, ...rest })

export interface WireEvent {
  readonly type: 'event' | 'gap'
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly params: { readonly namespace: string[]; readonly data: Record<string, unknown> }
}

const decoder = new TextDecoder()

export const parseFrames = (bytes: Uint8Array): WireEvent[] =>
  decoder
    .decode(bytes)
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as WireEvent)

/** Reads on until `done` holds of all that was read. */
export async function readUntil(
  subscription: Subscription,
  done: (events: readonly WireEvent[]) => boolean,
): Promise<WireEvent[]> {
  const events: WireEvent[] = []
  while (!done(events)) {
    const bytes = await subscription.next()
    if (bytes === undefined) break
    events.push(...parseFrames(bytes))
  }
  return events
}

const TERMINAL = new Set(['completed', 'failed', 'interrupted'])

export const isRoot = (event: WireEvent): boolean =>
  event.method === 'lifecycle' && event.params.namespace.length === 0

export const isTerminal = (event: WireEvent): boolean =>
  isRoot(event) && TERMINAL.has(String(event.params.data.event))

/** All the thread's events until `runs` runs have ended. */
export async function transcript(engine: AgentEngine, threadId: string, runs = 1): Promise<WireEvent[]> {
  const subscription = engine.subscribe({ threadId, filter: { channels: ALL }, since: 0 })
  try {
    return await readUntil(subscription, (events) => events.filter(isTerminal).length >= runs)
  } finally {
    subscription.cancel()
  }
}

/** The root states in the order they were told: `running`, `completed`, … */
export const rootStates = (events: readonly WireEvent[]): unknown[] =>
  events.filter(isRoot).map((e) => e.params.data.event)
