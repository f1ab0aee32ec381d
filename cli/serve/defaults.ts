import type { AgentDefaults } from '../../src/agents/agent.ts'
import { reader } from './config-reader.ts'

/**
 * Configuration of the assistants of graphs from the environment, by graph name. `LANGGRAPH_CONFIG` is JSON
 * such as `{"agent":{"configurable":{"model":"small"},"context":{"user":"ann"}}}`. Throws `ConfigError`.
 */
export function defaultsOf(text: string | undefined): (graph: string) => AgentDefaults | undefined {
  if (!text) return () => undefined
  const at = reader('LANGGRAPH_CONFIG')
  const all = at.object('the variable', parse(text))
  return (graph) => {
    if (!Object.hasOwn(all, graph)) return undefined
    const { context, ...config } = at.object(graph, all[graph])
    return { config, ...(context !== undefined && { context: at.object(`${graph}.context`, context) }) }
  }
}

/** Text that is not JSON is no object, which the reader says. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
