import * as z from 'zod/mini'
import type { AgentDefaults } from '../../agents/agent.ts'
import { readBy } from './config-reader.ts'

/**
 * Configuration of the assistants of graphs from the environment, by graph name. `LANGGRAPH_CONFIG` is JSON
 * such as `{"agent":{"configurable":{"model":"small"},"context":{"user":"ann"}}}`. Throws `ConfigError`.
 */
export function defaultsOf(text: string | undefined): (graph: string) => AgentDefaults | undefined {
  if (!text) return () => undefined
  const read = <S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> =>
    readBy(schema, value, { file: 'LANGGRAPH_CONFIG', whole: 'the variable' })
  const all = read(z.looseObject({}), parse(text))
  return (graph) => {
    if (!Object.hasOwn(all, graph)) return undefined
    const { [graph]: defaults } = read(z.object({ [graph]: DEFAULTS }), all)
    const { context, ...config } = defaults!
    return { config, ...(context !== undefined && { context }) }
  }
}

const DEFAULTS = z.looseObject({ context: z.optional(z.looseObject({})) })

/** Text that is not JSON is not an object, and the reader reports that. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
