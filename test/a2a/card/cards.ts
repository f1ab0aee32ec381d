import { onTestFinished } from 'vitest'
import { createHandler, type HandlerOptions, type WebHandler } from '../../../src/core/http/index.ts'
import { getCard } from '../../../src/faces/a2a/card/get-card.ts'
import { type A2ACardOptions, cardSettings } from '../../../src/faces/a2a/card/options.ts'
import type { A2AContext } from '../../../src/faces/a2a/options.ts'
import { guardRoutes } from '../../../src/faces/kit/create-face.ts'
import { route } from '../../../src/faces/kit/routes.ts'
import { type Agent, createAgentEngine, defineAgent } from '../../../src/index.ts'

export const WELL_KNOWN = '/.well-known/agent-card.json'

export const echo = defineAgent({ run: async ({ message }) => void (await message().text('Hello.')) })

export interface CardServerOptions extends Partial<HandlerOptions> {
  readonly agents?: Readonly<Record<string, Agent>>
  readonly defaultAgent?: string
  readonly card?: A2ACardOptions
  readonly pushNotifications?: boolean
}

/** The routes of cards, and the context of their endpoints. */
export function cardServer(options: CardServerOptions = {}): WebHandler & { readonly context: A2AContext } {
  const { agents = { echo }, defaultAgent, card, pushNotifications = false, ...handler } = options
  const engine = createAgentEngine({ agents, defaultAgent, aliases: { old: Object.keys(agents)[0]! } })
  const context: A2AContext = {
    engine,
    authenticate: handler.authenticate,
    authorize: () => false,
    onError: undefined,
    options: {},
    push: undefined,
    card: cardSettings(card, { authenticate: handler.authenticate, pushNotifications }),
  }
  const routes = guardRoutes<A2AContext>(context, [
    route('GET', WELL_KNOWN, { permission: 'public', run: getCard }),
    route('GET', `/a2a/:assistant_id${WELL_KNOWN}`, { permission: 'public', run: getCard }),
    route('GET', '/a2a/:assistant_id', { permission: 'public', run: getCard }),
    route('GET', '/a2a/:assistant_id/guarded', { permission: 'threads:read', run: getCard }),
  ])
  onTestFinished(() => engine.close())
  return { ...createHandler({ ...handler, routes }), context }
}

export interface CardRequest {
  readonly version?: string | undefined
  readonly path?: string
  readonly origin?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer to a request for a card, in the version that is asked for. */
export function askCard(
  { fetch }: Pick<WebHandler, 'fetch'>,
  { version, path = WELL_KNOWN, origin = 'http://agents.test', headers }: CardRequest = {},
): Promise<Response> {
  return fetch(
    new Request(origin + path, { headers: { ...(version && { 'a2a-version': version }), ...headers } }),
  )
}

// biome-ignore lint/suspicious/noExplicitAny: the tests look into cards of every version.
export const readCard = async (...ask: Parameters<typeof askCard>): Promise<any> =>
  (await askCard(...ask)).json()
