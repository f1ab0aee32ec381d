import type { Agent } from '../../agents/agent.ts'

/**
 * The capabilities of a server's agent in AG-UI's format. Source: `AgentCapabilities` of `@ag-ui/core` 1.0.0.
 */
export const capabilitiesOf = ({ name, description }: Agent): object => ({
  identity: { ...(name !== undefined && { name }), ...(description !== undefined && { description }) },
  transport: {
    streaming: true,
    websocket: false,
    httpBinary: false,
    pushNotifications: false,
    resumable: true,
  },
  tools: { supported: true, clientProvided: true },
  state: { snapshots: true, deltas: true, persistentState: true },
  multiAgent: { supported: true, subagents: [] },
  humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: true },
})
