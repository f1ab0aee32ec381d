import { agentIds } from '../../../agents/agent-ids.ts'
import {
  BASE_HEADERS,
  type Call,
  empty,
  HttpError,
  isResponse,
  json,
  type SecurityScheme,
} from '../../../core/http/index.ts'
import { isUuid } from '../../../core/ids.ts'
import { internalsOf } from '../../../engine/index.ts'
import type { Fields } from '../../../messages/record.ts'
import { permit } from '../../kit/access.ts'
import { type NamedAssistant, namedAssistant } from '../../kit/assistants.ts'
import { versionOf } from '../dialects/choose.ts'
import { A2AError } from '../errors.ts'
import type { A2ACall } from '../operations/operations.ts'
import type { A2AContext } from '../options.ts'
import { type CardOwner, cardOf } from './card.ts'
import type { A2ACard, SignCard } from './options.ts'

/**
 * `GET /.well-known/agent-card.json?assistant_id=…`, `GET /a2a/{assistant_id}/.well-known/agent-card.json`
 * and `GET /a2a/{assistant_id}`. The card of a graph needs no credentials, because clients read here which
 * credentials they need. The card of an assistant that a client created is only for callers that can access
 * the assistant.
 */
export async function getCard(context: A2AContext, call: Call): Promise<Response> {
  const { url, sign } = context.card
  const asked = await cardCall(context, call)
  if (isResponse(asked)) return asked
  const card = cardOf(context, asked, await assistantOf(context, asked))
  const written = await writeCard(card, shapeOf(context, call), sign)
  const varies = ['A2A-Version', ...(url === undefined ? [BASE_HEADERS] : [])]
  const headers = {
    etag: await tagOf(JSON.stringify(written)),
    vary: varies.join(', '),
    'cache-control': `${asked.principal ? 'private' : 'public'}, max-age=3600`,
  }
  const known = call.request.headers
    .get('if-none-match')
    ?.split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
  const isKnown = known?.some((tag) => tag === '*' || tag === headers.etag)
  return isKnown ? empty(304, headers) : json(written, { headers })
}

/**
 * The card for authenticated callers. If it is missing, A2A v0.3 has one error, v1.0 distinguishes whether it
 * was announced.
 */
export async function extendedCard({ context, call, assistantId, dialect }: A2ACall): Promise<unknown> {
  const { extended, sign } = context.card
  const { principal, request } = call
  if (!extended && dialect.version === '1.0')
    throw new A2AError('unsupported_operation', 'This agent has no extended card.')
  const named = { graphId: assistantId, assistant: madeOf(context.assistant) }
  const card = await extended?.(cardOf(context, call, named), {
    principal,
    request,
    assistantId: named.assistant?.assistantId ?? assistantId,
  })
  if (!card)
    throw new A2AError('extended_agent_card_not_configured', 'This agent has no extended card for you.')
  return writeCard(card, dialect.version, sign)
}

const nameIn = ({ params, url }: Call): string | undefined =>
  params.assistant_id ?? (url.searchParams.get('assistant_id') || undefined)

/**
 * The call for a card, with an authenticated caller if only some callers can access the card. A response
 * rejects the caller.
 */
async function cardCall(context: A2AContext, call: Call): Promise<Call | Response> {
  const { engine, authorize } = context
  const name = nameIn(call)
  if (name === undefined || !isUuid(name)) return call
  const { graphId, assistant } = await namedAssistant(engine, null, name)
  if (engine.agents.has(graphId ?? '') && !madeOf(assistant)) return call
  const principal = call.principal ?? (await call.identify())
  if (isResponse(principal)) return principal
  const permitted = await permit(authorize, { principal }, 'assistants:read', { assistantId: name })
  return { ...call, principal: permitted.principal }
}

async function assistantOf({ engine }: A2AContext, call: Call): Promise<CardOwner> {
  const named = await namedAssistant(engine, call.principal, nameIn(call))
  const { graphId = internalsOf(engine).defaultAgent } = named
  if (graphId !== undefined && engine.agents.has(graphId))
    return { graphId, assistant: madeOf(named.assistant) }
  const known = agentIds(engine.agents)
  throw graphId === undefined
    ? new HttpError(400, 'invalid_argument', `Name the assistant: assistant_id is one of ${known}.`)
    : new HttpError(404, 'not_found', `Unknown assistant. This server has: ${known}.`)
}

/** An assistant that a client created has its own card, a system assistant has the graph's. */
const madeOf = (assistant: NamedAssistant['assistant']): NamedAssistant['assistant'] =>
  assistant?.isSystem ? undefined : assistant

/**
 * The card tells clients which versions exist, so no version is rejected: versions before 1.0 get a v0.3
 * card, all others a v1.0 card.
 */
function shapeOf({ card: { headerless = 'hybrid' } }: A2AContext, call: Call): CardShape {
  const version = versionOf(call)
  return version === undefined ? headerless : version.startsWith('0.') ? '0.3' : '1.0'
}

async function tagOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `"${[...new Uint8Array(digest, 0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}"`
}

/** The forms in which a card is sent. */
type CardShape = keyof typeof WRITERS

/** A card in wire form, with its signatures. */
async function writeCard(card: A2ACard, shape: CardShape, sign: SignCard | undefined): Promise<Fields> {
  const written = WRITERS[shape](card)
  if (!sign) return written
  // Readers of v1.0 verify the fields that they know, which in a hybrid card are those of v1.0.
  const forms = shape === 'hybrid' ? [written, writeV1(card)] : [written]
  const signatures = await Promise.all(forms.map((form) => sign(JSON.parse(JSON.stringify(form)))))
  return { ...written, signatures: signatures.flat() }
}

/** Source: A2A v1.0 §4.4.1. */
function writeV1({ url, securitySchemes, securityRequirements, ...card }: A2ACard): Fields {
  return {
    ...card,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    securitySchemes: securitySchemes && mapValues(securitySchemes, writeSchemeV1),
    securityRequirements: securityRequirements?.map((schemes) => ({
      // ProtoJSON omits empty lists.
      schemes: mapValues(schemes, (scopes) => (scopes.length > 0 ? { list: scopes } : {})),
    })),
  }
}

/** Source: A2A v0.3.0 §5.5. */
function writeV03({ securityRequirements, ...card }: A2ACard): Fields {
  const { extendedAgentCard, ...capabilities } = card.capabilities
  return {
    ...card,
    protocolVersion: '0.3.0',
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url: card.url, transport: 'JSONRPC' }],
    capabilities,
    supportsAuthenticatedExtendedCard: extendedAgentCard,
    securitySchemes: card.securitySchemes && mapValues(card.securitySchemes, writeSchemeV03),
    security: securityRequirements,
  }
}

/** Readers of each version find their fields, and ignore the others. */
function writeHybrid(card: A2ACard): Fields {
  return {
    ...writeV1(card),
    ...writeV03(card),
    capabilities: card.capabilities,
    securitySchemes:
      card.securitySchemes &&
      mapValues(card.securitySchemes, (scheme) => ({ ...writeSchemeV03(scheme), ...writeSchemeV1(scheme) })),
  }
}

const WRITERS = { '1.0': writeV1, '0.3': writeV03, hybrid: writeHybrid }

/** v1.0 has a separate field for each type, and calls the place of an API key its location. */
function writeSchemeV1({ type, ...scheme }: SecurityScheme): Fields {
  const { in: location, ...fields } = scheme as Fields
  return { [`${V1_SCHEMES[type]}SecurityScheme`]: { ...fields, location } }
}

const V1_SCHEMES = {
  http: 'httpAuth',
  apiKey: 'apiKey',
  oauth2: 'oauth2',
  openIdConnect: 'openIdConnect',
  mutualTLS: 'mtls',
}

function writeSchemeV03(scheme: SecurityScheme): Fields {
  if (scheme.type !== 'oauth2') return scheme
  const { deviceCode, authorizationCode } = scheme.flows
  // v0.3 does not have this flow, and its readers reject a scheme without flows. The flow returns a bearer
  // token.
  if (deviceCode) return { type: 'http', scheme: 'bearer', description: scheme.description }
  if (!authorizationCode) return scheme
  const { pkceRequired: _, ...flow } = authorizationCode
  return { ...scheme, flows: { authorizationCode: flow } }
}

const mapValues = <From, To>(
  record: Readonly<Record<string, From>>,
  to: (value: From) => To,
): Record<string, To> => Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]))
