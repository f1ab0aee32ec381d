import type { AgentEngine } from '../runs/index.ts'

/** The assistant id of clients that leave the choice to the server. `@langchain/react` and its siblings send it when an app names no assistant. */
const UNNAMED = '_'

/** The assistant that a request names, or undefined where it leaves the choice to the server. An agent may still be registered as `_`. */
export const namedAssistant = (
  { agents }: Pick<AgentEngine, 'agents'>,
  assistantId: string | undefined,
): string | undefined => (assistantId === UNNAMED && !agents.has(UNNAMED) ? undefined : assistantId)
