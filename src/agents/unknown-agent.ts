import type { Agent } from './agent.ts'

/** Reads the threads of a removed agent from their checkpoints. All other methods throw `refusal()`. */
export function unknownAgent(refusal: () => Error): Agent {
  return {
    resumable: false,
    // biome-ignore lint/correctness/useYield: it cannot run
    async *stream() {
      throw refusal()
    },
    async getState(at) {
      return (await reader()).readUnknownState(at)
    },
    async *getHistory(at, options = {}) {
      yield* (await reader()).readUnknownHistory(at, options)
    },
    async updateState() {
      throw refusal()
    },
  }
}

/** Loaded on demand, because few servers have such threads. */
const reader = () => import('./langgraph/unknown-graph.ts')
