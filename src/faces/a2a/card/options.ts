import type { AgentSkill } from '../../../agents/profile.ts'
import { AgentwireError } from '../../../core/errors.ts'
import type { Authenticate, Principal, SecuritySchemes } from '../../../core/http/index.ts'
import type { OptionTable } from '../../../core/options.ts'

/** The description of an agent, in one form for both versions of A2A. Source: A2A v1.0 §4.4, v0.3 §5.5. */
export interface A2ACard {
  readonly name: string
  readonly description: string
  /** The agent's own version, such as `1.0.0`. */
  readonly version: string
  /** The URL to call, in both versions of A2A. */
  readonly url: string
  readonly provider?: { readonly organization: string; readonly url: string } | undefined
  readonly documentationUrl?: string | undefined
  readonly iconUrl?: string | undefined
  readonly capabilities: A2ACapabilities
  /** How clients authenticate. */
  readonly securitySchemes?: SecuritySchemes | undefined
  /** Alternatives, each with the schemes that are needed together and their scopes. */
  readonly securityRequirements?: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  /** Media types, at least one. */
  readonly defaultInputModes: readonly string[]
  /** Media types, at least one. */
  readonly defaultOutputModes: readonly string[]
  /** At least one. */
  readonly skills: readonly AgentSkill[]
}

/** The capabilities of an agent. Source: A2A v1.0 §4.4.3. */
export interface A2ACapabilities {
  readonly streaming: boolean
  readonly pushNotifications: boolean
  readonly extendedAgentCard: boolean
  readonly extensions?: readonly A2AExtension[] | undefined
}

/** A protocol extension of an agent. Source: A2A v1.0 §4.4.4. */
export interface A2AExtension {
  readonly uri: string
  readonly description?: string | undefined
  /** Whether clients that do not support the extension must not call the agent. Default: false. */
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

/** The contents of the cards, in addition to the agents' profiles. */
export interface A2ACardOptions
  extends Partial<
    Pick<A2ACard, 'version' | 'provider' | 'documentationUrl' | 'iconUrl' | 'securityRequirements'>
  > {
  /**
   * The URL at which clients reach the server, with its mount path, such as `https://agents.example.com/api`.
   * Default: scheme, host and path of the request for the card. A proxy that ends TLS sends `https` in
   * `X-Forwarded-Proto` or `Forwarded`.
   */
  readonly url?: string | undefined
  /**
   * Default: `authenticate.schemes`, or a bearer token if `authenticate` has no schemes. None without
   * `authenticate`.
   */
  readonly securitySchemes?: SecuritySchemes | undefined
  /** Protocol extensions of the agents. */
  readonly extensions?: readonly A2AExtension[] | undefined
  /**
   * The card for requests without the header `A2A-Version`. Default: `hybrid`, a v0.3 card that also has the
   * fields of v1.0.
   */
  readonly headerless?: 'hybrid' | '1.0' | undefined
  /**
   * Creates the card for an authenticated caller from the public card, which then announces it. Undefined:
   * this caller has none.
   */
  readonly extended?:
    | ((card: A2ACard, caller: A2ACardCaller) => A2ACard | undefined | Promise<A2ACard | undefined>)
    | undefined
  /** Signs each card before it is sent: `signCards({ … })` from `agentwire/a2a/signature`. Requires `url`. */
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

/** An authenticated caller that requests the extended card. */
export interface A2ACardCaller {
  /** Null on a server without authentication. */
  readonly principal: Principal | null
  /** Its body was already read. */
  readonly request: Request
  readonly assistantId: string
}

/** Signs a card, which is plain JSON. Called for every card that is sent. */
export type SignCard = (card: Readonly<Record<string, unknown>>) => Promise<readonly A2ACardSignature[]>

/** The settings of all cards of a server. */
export interface CardSettings extends A2ACardOptions {
  readonly pushNotifications: boolean
}

/**
 * The settings of a server. Throws `AgentwireError` `invalid_argument` for settings that are not valid in a
 * card.
 */
export function cardSettings(
  options: A2ACardOptions = {},
  {
    authenticate,
    pushNotifications,
  }: { authenticate?: Authenticate | undefined; pushNotifications: boolean },
): CardSettings {
  const { url, sign } = options
  // Otherwise a caller with a forged Host header would get a signed card of this agent with its own address.
  if (sign && url === undefined) refuse('url', 'must be set if cards are signed')
  if (url !== undefined && !(/^https?:\/\/[^\s?#@]+$/.test(url) && URL.canParse(url)))
    refuse('url', 'must be a URL such as "https://agents.example.com/api"')
  const securitySchemes = options.securitySchemes ?? (authenticate && (authenticate.schemes ?? BEARER))
  for (const [name, scheme] of Object.entries(securitySchemes ?? {}))
    if (scheme.type === 'oauth2' && Object.values(scheme.flows).filter(Boolean).length !== 1)
      refuse(
        `securitySchemes.${name}.flows`,
        'must have exactly one flow: use a separate scheme for each flow',
      )
  return { ...options, url: url?.replace(/\/$/, ''), securitySchemes, pushNotifications }
}

/** The scheme of a 401 response if `authenticate` does not define schemes. */
const BEARER: SecuritySchemes = { bearer: { type: 'http', scheme: 'bearer' } }

function refuse(path: string, why: string): never {
  throw new AgentwireError('invalid_argument', `a2a.card.${path} ${why}.`)
}

/** Where clients look for an agent card, below the server's path and below that of an agent. */
export const WELL_KNOWN = '/.well-known/agent-card.json'
