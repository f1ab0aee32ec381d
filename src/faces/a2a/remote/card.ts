import { isRecord, itemsOf } from '../../../messages/record.ts'
import { type Connection, parsed, statusError } from './connection.ts'
import { A2ARemoteError } from './remote-error.ts'

/** The parts of a card that determine how to call its agent. */
export interface RemoteInterface {
  readonly url: URL
  readonly version: '0.3' | '1.0'
  readonly streams: boolean
  /** v1.0: selects one of several agents at the same address. */
  readonly tenant?: string | undefined
}

/** Where the agent's card is. */
export type CardSource =
  | {
      /**
       * The base URL of the agent, with its card at `.well-known/agent-card.json`, or the URL of the card
       * itself. A query is kept. The card must not name another origin.
       */
      readonly url: string
      readonly card?: undefined
    }
  | {
      /** The agent's card, instead of a URL to read it from. It may name any origin. */
      readonly card: Readonly<Record<string, unknown>>
      readonly url?: undefined
    }

const PATHS = ['.well-known/agent-card.json', '.well-known/agent.json']
/** How long a card without a max-age is cached, and the maximum for all cards. */
const DEFAULT_AGE_S = 300
const MAX_AGE_S = 86_400

/** Returns the interface of the card. The card is read once, and again when it expires. */
export function openCard(
  source: CardSource,
  connection: Connection,
): (signal?: AbortSignal) => Promise<RemoteInterface> {
  const { card } = source
  if (card) {
    const known = interfaceOf(card, undefined)
    return async () => known
  }
  const places = placesOf(source.url)
  let cached: CachedCard | undefined

  async function read(signal: AbortSignal | undefined): Promise<CachedCard> {
    for (const place of cached ? [cached.place] : places) {
      const headers = { accept: 'application/json', 'a2a-version': '1.0' }
      const answer = await connection.get(
        place,
        cached?.etag ? { ...headers, 'if-none-match': cached.etag } : headers,
        signal,
      )
      const { status, headers: answered, text } = answer
      const until = Date.now() + ageOf(answered) * 1_000
      if (status === 200)
        return { found: interfaceOf(parsed(text), place), until, place, etag: answered.get('etag') }
      if (status === 304 && cached) return { ...cached, until }
      if (status !== 404) throw statusError(answer)
    }
    throw invalidCard(`No card was found at ${places.map(({ href }) => href).join(' or ')}.`)
  }

  return async (signal) => {
    if (cached && Date.now() < cached.until) return cached.found
    try {
      cached = await read(signal)
    } catch (error) {
      // An outdated card is better than none.
      if (!(cached && error instanceof A2ARemoteError && error.code === 'unreachable')) throw error
    }
    return cached.found
  }
}

interface CachedCard {
  readonly found: RemoteInterface
  /** Milliseconds since 1970. */
  readonly until: number
  readonly place: URL
  readonly etag: string | null
}

function placesOf(url: string): readonly URL[] {
  if (!URL.canParse(url) || !/^https?:/i.test(url))
    throw invalidCard(`${JSON.stringify(url)} is not an http URL.`)
  const base = new URL(url)
  if (base.pathname.endsWith('.json')) return [base]
  const path = base.pathname.replace(/(?<!\/)\/*$/, '/')
  return PATHS.map((name) => Object.assign(new URL(base), { pathname: path + name, hash: '' }))
}

/** In seconds. */
function ageOf(headers: Headers): number {
  const control = headers.get('cache-control') ?? ''
  if (/no-(store|cache)/i.test(control)) return 0
  const [, age] = /max-age=(\d+)/i.exec(control) ?? []
  return Math.min(age === undefined ? DEFAULT_AGE_S : Number(age), MAX_AGE_S)
}

/** v1.0 if the card offers it, otherwise v0.3. Both over JSON-RPC only. */
function interfaceOf(card: unknown, place: URL | undefined): RemoteInterface {
  if (!isRecord(card)) throw invalidCard('It is not a JSON object.')
  const streams = isRecord(card.capabilities) && card.capabilities.streaming === true
  const of = (url: unknown, version: '0.3' | '1.0', tenant?: unknown): RemoteInterface => ({
    url: endpointOf(url, place),
    version,
    streams,
    ...(typeof tenant === 'string' && tenant !== '' && { tenant }),
  })
  const offered = itemsOf(card.supportedInterfaces).filter(isRecord).filter(isJsonRpc)
  const named = (version: string) =>
    offered.find(({ protocolVersion }) => String(protocolVersion).startsWith(version))
  const newer = named('1.')
  if (newer) return of(newer.url, '1.0', newer.tenant)
  const older = named('0.3') ?? olderOf(card)
  if (!older) throw invalidCard('It has no JSON-RPC interface for A2A 1.0 or 0.3.')
  return of(older.url, '0.3')
}

/** The JSON-RPC interface of a v0.3 card. */
function olderOf(card: Record<string, unknown>): { readonly url?: unknown } | undefined {
  if (typeof card.url === 'string' && isJsonRpc({ transport: card.preferredTransport ?? 'JSONRPC' }))
    return card
  return itemsOf(card.additionalInterfaces).filter(isRecord).find(isJsonRpc)
}

const isJsonRpc = ({ protocolBinding, transport }: Record<string, unknown>): boolean =>
  String(protocolBinding ?? transport).toUpperCase() === 'JSONRPC'

function endpointOf(url: unknown, place: URL | undefined): URL {
  if (typeof url !== 'string' || !URL.canParse(url, place?.href)) throw invalidCard('Its URL is not valid.')
  const endpoint = new URL(url, place)
  if (!/^https?:$/.test(endpoint.protocol)) throw invalidCard('Its URL is not an http URL.')
  if (place && endpoint.origin !== place.origin)
    throw invalidCard(
      `It is at ${place.origin} and names ${endpoint.origin}, to which no credentials are sent. If this is intended, pass the card itself as \`card\`.`,
    )
  return endpoint
}

const invalidCard = (why: string): A2ARemoteError =>
  new A2ARemoteError('invalid_card', `The agent card cannot be used. ${why}`)
