import type { ServedEngine } from '../index.ts'

/** The assistant id that `@langchain/react` and its siblings send if an app sets none: the server chooses. */
const UNNAMED = '_'

/** Whether an id leaves the choice to the server. An agent may still be registered under it. */
export const isUnnamed = ({ agents }: Pick<ServedEngine, 'agents'>, id: string): boolean =>
  id === UNNAMED && !agents.has(UNNAMED)
