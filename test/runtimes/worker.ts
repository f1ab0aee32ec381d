import { AsyncLocalStorage } from 'node:async_hooks'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { createAgentServer, type HandlerContext } from '../../src/index.ts'
import { functions } from '../conformance/audited/agents.ts'
import { below, mounts } from './mounts.ts'

AsyncLocalStorageProviderSingleton.initializeGlobalInstance(new AsyncLocalStorage())

/** Made while the module is loaded, and used without a Durable Object. */
const inModule = createAgentServer({
  agents: functions,
  ...below('/in-module'),
  authenticate: () => ({ id: 'everybody' }),
})

export class Agents {
  readonly #state: HandlerContext
  readonly #fetch = mounts()

  constructor(state: HandlerContext) {
    this.#state = state
  }

  fetch(request: Request): Promise<Response> {
    return this.#fetch(request, this.#state)
  }
}

interface Env {
  readonly AGENTS: { getByName(name: string): { fetch(request: Request): Promise<Response> } }
}

export const worker = {
  fetch: async (request: Request, env: Env, context: HandlerContext): Promise<Response> =>
    (await inModule.handle(request, context)) ?? env.AGENTS.getByName('all').fetch(request),
}
export { worker as default }
