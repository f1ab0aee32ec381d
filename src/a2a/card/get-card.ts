import { BASE_HEADERS, type Call, empty, HttpError, json } from '../../http/index.ts'
import { namedAssistant } from '../../requests/assistants.ts'
import type { A2AContext } from '../context.ts'
import { versionOf } from '../dialects/choose.ts'
import { A2AError } from '../errors.ts'
import type { A2ACall } from '../operations/operations.ts'
import { cardOf } from './card.ts'
import { type CardShape, writeCard } from './write.ts'

/**
 * `GET /.well-known/agent-card.json?assistant_id=…` and `GET /a2a/{assistant_id}/.well-known/agent-card.json`. Never asks for
 * credentials: those who may not call the agent read here what they need for it.
 */
export async function getCard(context: A2AContext, call: Call): Promise<Response> {
  const { url, sign } = context.card
  const card = cardOf(context, call, await assistantOf(context, call))
  const written = await writeCard(card, shapeOf(context, call), sign)
  const headers = {
    etag: await tagOf(JSON.stringify(written)),
    vary: url === undefined ? `A2A-Version, ${BASE_HEADERS}` : 'A2A-Version',
    'cache-control': `${call.principal ? 'private' : 'public'}, max-age=3600`,
  }
  const known = call.request.headers
    .get('if-none-match')
    ?.split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
  const isKnown = known?.some((tag) => tag === '*' || tag === headers.etag)
  return isKnown ? empty(304, headers) : json(written, { headers })
}

/** The card that callers who are let in are given. A2A v0.3 has one error where it is missing, v1.0 tells whether it was announced. */
export async function extendedCard({ context, call, dialect }: A2ACall): Promise<unknown> {
  const { extended, sign } = context.card
  const { principal, request } = call
  const assistantId = await assistantOf(context, call)
  if (!extended && dialect.version === '1.0')
    throw new A2AError('unsupported_operation', 'This agent has no extended card.')
  const card = await extended?.(cardOf(context, call, assistantId), { principal, request, assistantId })
  if (!card)
    throw new A2AError('extended_agent_card_not_configured', 'This agent has no extended card for you.')
  return writeCard(card, dialect.version, sign)
}

async function assistantOf({ engine }: A2AContext, { params, url, principal }: Call): Promise<string> {
  const name = params.assistant_id ?? (url.searchParams.get('assistant_id') || undefined)
  const { graphId: id = engine.defaultAgent } = await namedAssistant(engine, principal, name)
  if (id !== undefined && engine.agents.has(id)) return id
  const known = [...engine.agents.keys()].map((id) => JSON.stringify(id)).join(', ')
  throw id === undefined
    ? new HttpError(400, 'invalid_argument', `Name the assistant: assistant_id is one of ${known}.`)
    : new HttpError(404, 'not_found', `Unknown assistant. This server has: ${known}.`)
}

/**
 * The card is what tells a client which versions there are, so no version is refused: those before 1.0 read a v0.3 card, all others
 * one of v1.0.
 */
function shapeOf({ card: { headerless = 'hybrid' } }: A2AContext, call: Call): CardShape {
  const version = versionOf(call)
  return version === undefined ? headerless : version.startsWith('0.') ? '0.3' : '1.0'
}

async function tagOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `"${[...new Uint8Array(digest, 0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}"`
}
