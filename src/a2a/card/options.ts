import type { AgentSkill } from '../../agents/profile.ts'
import { AgentwireError } from '../../errors.ts'
import type { Authenticate, Principal, SecuritySchemes } from '../../http/index.ts'
import type { OptionTable } from '../../options.ts'

/** What an agent tells of itself, in one form for both versions of A2A. Source: A2A v1.0 §4.4, v0.3 §5.5. */
export interface A2ACard {
  readonly name: string
  readonly description: string
  /** The agent's own, such as `1.0.0`. */
  readonly version: string
  /** Where it is called, in both versions of A2A. */
  readonly url: string
  readonly provider?: { readonly organization: string; readonly url: string } | undefined
  readonly documentationUrl?: string | undefined
  readonly iconUrl?: string | undefined
  readonly capabilities: A2ACapabilities
  /** How a client proves who it is. */
  readonly securitySchemes?: SecuritySchemes | undefined
  /** Each is a way to be let in: the schemes that are needed together, with the scopes of each. */
  readonly securityRequirements?: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  /** Media types, at least one. */
  readonly defaultInputModes: readonly string[]
  /** Media types, at least one. */
  readonly defaultOutputModes: readonly string[]
  /** At least one. */
  readonly skills: readonly AgentSkill[]
}

export interface A2ACapabilities {
  readonly streaming: boolean
  readonly pushNotifications: boolean
  readonly extendedAgentCard: boolean
  readonly extensions?: readonly A2AExtension[] | undefined
}

export interface A2AExtension {
  readonly uri: string
  readonly description?: string | undefined
  /** A client that does not know it must not call the agent. Default: false. */
  readonly required?: true | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/** A JWS over a card. Source: A2A v1.0 §8.4.2. */
export interface A2ACardSignature {
  /** Base64url. */
  readonly protected: string
  /** Base64url. */
  readonly signature: string
  readonly header?: Readonly<Record<string, unknown>> | undefined
}

/** What the cards say beside what the agents tell of themselves. */
export interface A2ACardOptions
  extends Partial<
    Pick<A2ACard, 'version' | 'provider' | 'documentationUrl' | 'iconUrl' | 'securityRequirements'>
  > {
  /**
   * Where clients reach the server, with its mount path, such as `https://agents.example.com/api`. Default: scheme, host and path of
   * the request for the card; a proxy that ends TLS says `https` with `X-Forwarded-Proto` or `Forwarded`.
   */
  readonly url?: string | undefined
  /** Default: `authenticate.schemes`; a bearer token for an `authenticate` without; none for a server without `authenticate`. */
  readonly securitySchemes?: SecuritySchemes | undefined
  /** Protocol extensions of the agents. */
  readonly extensions?: readonly A2AExtension[] | undefined
  /**
   * What a request without the header `A2A-Version` is given. Default: `hybrid`, a card of v0.3 that has the fields of v1.0 too.
   */
  readonly headerless?: 'hybrid' | '1.0' | undefined
  /**
   * Makes the card of callers that have been let in out of the public one, which then announces it. Undefined: this caller has none.
   */
  readonly extended?:
    | ((card: A2ACard, caller: A2ACardCaller) => A2ACard | undefined | Promise<A2ACard | undefined>)
    | undefined
  /** Signs a card as it is sent: `signCards({ … })` of `agentwire/a2a/signature`. Needs `url`. */
  readonly sign?: SignCard | undefined
}

export const CARD_OPTIONS: OptionTable<A2ACardOptions> = {
  version: 'string',
  provider: 'object',
  documentationUrl: 'string',
  iconUrl: 'string',
  securityRequirements: 'list',
  url: 'string',
  securitySchemes: 'object',
  extensions: 'list',
  headerless: 'string',
  extended: 'function',
  sign: 'function',
}

export interface A2ACardCaller {
  /** Null on a server without authentication. */
  readonly principal: Principal | null
  /** Its body has been read. */
  readonly request: Request
  readonly assistantId: string
}

/** The signatures of a card, which is plain JSON. It is called for every card that is sent. */
export type SignCard = (card: Readonly<Record<string, unknown>>) => Promise<readonly A2ACardSignature[]>

/** What all cards of a server are made of. */
export interface CardSettings extends A2ACardOptions {
  readonly pushNotifications: boolean
}

/** The settings of a server. Throws `AgentwireError` (`invalid_argument`) where no card could have them. */
export function cardSettings(
  options: A2ACardOptions = {},
  {
    authenticate,
    pushNotifications,
  }: { authenticate?: Authenticate | undefined; pushNotifications: boolean },
): CardSettings {
  const { url, sign } = options
  // Else a caller that forges the Host header would be given a signed card of this agent with an address of its own.
  if (sign && url === undefined) refuse('url', 'must be set where cards are signed')
  if (url !== undefined && !(/^https?:\/\/[^\s?#@]+$/.test(url) && URL.canParse(url)))
    refuse('url', 'must be an address such as "https://agents.example.com/api"')
  const securitySchemes = options.securitySchemes ?? (authenticate && (authenticate.schemes ?? BEARER))
  for (const [name, scheme] of Object.entries(securitySchemes ?? {}))
    if (scheme.type === 'oauth2' && Object.values(scheme.flows).filter(Boolean).length !== 1)
      refuse(`securitySchemes.${name}.flows`, 'must have one flow: give each flow a scheme of its own')
  return { ...options, url: url?.replace(/\/$/, ''), securitySchemes, pushNotifications }
}

/** What a server with an `authenticate` that does not tell asks for with its 401. */
const BEARER: SecuritySchemes = { bearer: { type: 'http', scheme: 'bearer' } }

function refuse(path: string, why: string): never {
  throw new AgentwireError('invalid_argument', `a2a.card.${path} ${why}.`)
}
