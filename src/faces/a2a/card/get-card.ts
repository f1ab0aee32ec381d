import { agentIds } from '../../../agents/description.ts'
import { BASE_HEADERS, type Call, empty, HttpError, isResponse, json } from '../../../core/http/index.ts'
import { isUuid } from '../../../core/ids.ts'
import { internalsOf } from '../../../engine/index.ts'
import { permit } from '../../kit/access.ts'
import { type NamedAssistant, namedAssistant } from '../../kit/assistants.ts'
import { versionOf } from '../dialects/choose.ts'
import { A2AError } from '../errors.ts'
import type { A2ACall } from '../operations/operations.ts'
import type { A2AContext } from '../options.ts'
import { type CardOwner, cardOf } from './card.ts'
import { type CardShape, writeCard } from './write.ts'

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
