import type { FaceCall } from '../../kit/routes.ts'
import { extensionsOf } from '../card/card.ts'
import type { A2AContext } from '../context.ts'
import { A2AError } from '../errors.ts'
import { HISTORY_SCOPE_HEADER } from '../headers.ts'
import type { HistoryScope } from '../model.ts'

/** The headers of requests and responses that list extensions: in v1.0, and in v0.3. */
const HEADERS = ['a2a-extensions', 'x-a2a-extensions']

/** The extensions that a request lists in a header. */
const namedIn = ({ headers }: Request, header: string): readonly string[] =>
  (headers.get(header)?.split(',') ?? []).map((uri) => uri.trim())

/**
 * The response headers with the requested extensions that this server supports, in the header that the
 * request used.
 */
export function activeExtensions(
  { card }: A2AContext,
  { request }: FaceCall,
): readonly (readonly [header: string, uris: string])[] {
  const known = new Set(extensionsOf(card).map(({ uri }) => uri))
  return HEADERS.flatMap((header) => {
    const active = [...new Set(namedIn(request, header))].filter((uri) => known.has(uri))
    return active.length > 0 ? [[header, active.join(', ')] as const] : []
  })
}

/**
 * Throws `extension_support_required` if the client does not support an extension that the agent requires.
 */
export function requireExtensions({ card }: A2AContext, { request }: FaceCall): void {
  const required = card.extensions?.filter(({ required }) => required) ?? []
  const named = required.length > 0 ? HEADERS.flatMap((header) => namedIn(request, header)) : []
  const missing = required.find(({ uri }) => !named.includes(uri))
  if (missing)
    throw new A2AError(
      'extension_support_required',
      `Support ${missing.uri} and name it in A2A-Extensions.`,
      {
        extension: missing.uri,
      },
    )
}

/**
 * Whether a task's history contains its own messages or all of its context, from the header of LangGraph's
 * server.
 */
export const historyScopeOf = ({ request }: FaceCall): HistoryScope =>
  request.headers.get(HISTORY_SCOPE_HEADER) === 'context' ? 'context' : 'task'
