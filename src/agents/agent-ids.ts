/** The assistant ids of a server for an error message: `"agent", "helper"`. */
export const agentIds = (agents: ReadonlyMap<string, unknown>): string =>
  [...agents.keys()].map((id) => JSON.stringify(id)).join(', ')
