/** For Workers: the agents run in a Durable Object, which receives all requests for its name. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { type AgentServer, createAgentServer } from 'agentwire'
import { agents } from './agents.ts'

// LangGraph only does this itself on Node. Without it, `interrupt()` does not find the run that calls it.
AsyncLocalStorageProviderSingleton.initializeGlobalInstance(new AsyncLocalStorage())

/** All requests for one name reach the same Durable Object, so they share its memory. */
export class Agents {
  readonly #server: AgentServer
  readonly #state: DurableObjectState

  constructor(state: DurableObjectState) {
    this.#state = state
    // Not in the module: two objects may share a module, and one may not wait for the other's work.
    this.#server = createAgentServer({ agents })
  }

  fetch(request: Request): Promise<Response> {
    return this.#server.fetch(request, this.#state)
  }
}

interface DurableObjectState {
  waitUntil(work: Promise<unknown>): void
}

interface Env {
  readonly AGENTS: { getByName(name: string): { fetch(request: Request): Promise<Response> } }
}

export default {
  // One object for everyone. Pass the user's id instead to give each user their own.
  fetch: (request: Request, env: Env): Promise<Response> => env.AGENTS.getByName('all').fetch(request),
}
