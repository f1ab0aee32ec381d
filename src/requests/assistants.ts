import type { AgentEngine } from '../runs/index.ts'

/** The assistant id of clients that leave the choice to the server. `@langchain/react` and its siblings send it when an app names no assistant. */
const UNNAMED = '_'

/** The keys of a thread's metadata that name its assistant. The SDK sets `graph_id` when it creates a thread. */
const ASSISTANT_KEYS: readonly string[] = ['graph_id', 'assistant_id']

type Agents = Pick<AgentEngine, 'agents' | 'aliases'>
type Metadata = Readonly<Record<string, unknown>>

/** The assistant that a request names, by its id or an alias, or undefined where it leaves the choice to the server. An agent may still be registered as `_`. */
export const namedAssistant = (
  { agents, aliases }: Agents,
  assistantId: string | undefined,
): string | undefined =>
  assistantId === undefined || (assistantId === UNNAMED && !agents.has(UNNAMED))
    ? undefined
    : (aliases.get(assistantId) ?? assistantId)

/** The agent that metadata binds a new thread to, or undefined where they name none of this server. */
export const boundAssistant = ({ agents, aliases }: Agents, metadata: Metadata = {}): string | undefined =>
  ASSISTANT_KEYS.map((key) => metadata[key] as string)
    .map((name) => aliases.get(name) ?? name)
    .find((id) => agents.has(id))

/** The metadata as a thread keeps them: without an assistant id that names no assistant. */
export const threadMetadata = ({ agents }: Agents, metadata: Metadata = {}): Metadata =>
  Object.fromEntries(
    Object.entries(metadata).filter(
      ([key, value]) => value !== UNNAMED || !ASSISTANT_KEYS.includes(key) || agents.has(UNNAMED),
    ),
  )
