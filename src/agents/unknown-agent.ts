import type { Agent } from './agent.ts'
import { configOf, listTuples } from './checkpoint-config.ts'

/** Reads the threads of a removed agent from their checkpoints. All other methods throw `refusal()`. */
export function unknownAgent(refusal: () => Error): Agent {
  return {
    resumable: false,
    // biome-ignore lint/correctness/useYield: it cannot run
    async *stream() {
      throw refusal()
    },
    async getState(at) {
      const tuple = await at.checkpointer.getTuple(configOf(at))
      return tuple && (await reader()).readUnknownGraph(tuple)
    },
    async *getHistory(at, options = {}) {
      const { readUnknownGraph } = await reader()
      for await (const tuple of listTuples(at, options)) yield readUnknownGraph(tuple)
    },
    async updateState() {
      throw refusal()
    },
  }
}

/** Loaded on demand, because few servers have such threads. */
const reader = () => import('./langgraph/unknown-graph.ts')
