/** For Workers: the agents live in a Durable Object, which all requests of its name reach. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { type AgentServer, createAgentServer } from 'agentwire'
import { agents } from './agents.ts'

// LangGraph does this itself on Node only. Without it, `interrupt()` does not find the run that calls it.
AsyncLocalStorageProviderSingleton.initializeGlobalInstance(new AsyncLocalStorage())

// #region object
/** A Durable Object: all requests of a name reach the same one, so its memory is the same for all of them. */
export class Agents {
  readonly #server: AgentServer
  readonly #state: DurableObjectState

  constructor(state: DurableObjectState) {
    this.#state = state
    // Not in the module: two objects may share it, and one may not wait for what the other does.
    this.#server = createAgentServer({ agents })
  }

  fetch(request: Request): Promise<Response> {
    return this.#server.fetch(request, this.#state)
  }
}
// #endregion

interface DurableObjectState {
  waitUntil(work: Promise<unknown>): void
}

interface Env {
  readonly AGENTS: { getByName(name: string): { fetch(request: Request): Promise<Response> } }
}

// #region entry
export default {
  // One object for everybody. With the id of the user as its name, each user has their own.
  fetch: (request: Request, env: Env): Promise<Response> => env.AGENTS.getByName('all').fetch(request),
}
// #endregion
