import { type AgentServer, createAgentServer } from '../../../src/index.ts'
import { tckAgent } from './agent.ts'

/** What a compatibility kit asks: the agent `tck`, with webhooks on this machine, and cards as the kit of that version reads them. */
export function createTckServer(version: '1.0' | '0.3'): AgentServer {
  return createAgentServer({
    agents: { tck: tckAgent() },
    a2a: {
      push: { allowLoopback: true },
      card: version === '1.0' ? { headerless: '1.0' } : undefined,
    },
  })
}
