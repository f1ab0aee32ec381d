import type { Agent, AgentTask } from '../../src/agents/agent.ts'
import type { AgentEvent } from '../../src/messages/thread-events/index.ts'

/** An agent that the test drives step by step. */
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

export const custom = (payload: unknown, namespace: readonly string[] = []): AgentEvent => ({
  method: 'custom',
  namespace,
  data: { payload },
})
