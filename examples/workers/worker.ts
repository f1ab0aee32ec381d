import { AsyncLocalStorage } from 'node:async_hooks'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentServer, createAgentServer, defineAgent } from '../../src/index.ts'

// LangGraph does this itself on Node only. Without it, `interrupt()` does not find the run that calls it.
AsyncLocalStorageProviderSingleton.initializeGlobalInstance(new AsyncLocalStorage())

const approval = new StateGraph(MessagesAnnotation)
  .addNode('ask', () => ({ messages: [{ role: 'ai', content: `You said ${interrupt('Shall I?')}.` }] }))
  .addEdge('__start__', 'ask')
  .compile()

const counter = defineAgent({
  async run({ message, signal }) {
    const reply = message()
    for (let word = 1; word <= 20 && !signal.aborted; word++) {
      await reply.text(`${word} `)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await reply.end()
  },
})

/** A Durable Object: all requests of a name reach the same one, so its memory is the same for all of them. */
export class Agents {
  readonly #server: AgentServer
  readonly #state: DurableObjectState

  constructor(state: DurableObjectState) {
    this.#state = state
    // Not in the module: two objects may share it, and one may not wait for what the other does.
    this.#server = createAgentServer({ agents: { approval: langgraph(approval), counter } })
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

export const worker = {
  // One object for everybody. With the id of the user as its name, each user has their own.
  fetch: (request: Request, env: Env): Promise<Response> => env.AGENTS.getByName('all').fetch(request),
}
export { worker as default }
