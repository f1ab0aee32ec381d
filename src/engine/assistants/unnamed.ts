import type { ServedEngine } from '../index.ts'

const UNNAMED = '_'

/** Whether an id leaves the choice to the server. An agent may still be registered under it. */
export const isUnnamed = ({ agents }: Pick<ServedEngine, 'agents'>, id: string): boolean =>
  id === UNNAMED && !agents.has(UNNAMED)
