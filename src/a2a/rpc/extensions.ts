import type { FaceCall } from '../../requests/routes.ts'
import { HISTORY_SCOPE } from '../card/card.ts'
import type { A2AContext } from '../context.ts'
import { A2AError } from '../errors.ts'

/** The extensions that a request names: `A2A-Extensions` in v1.0, `X-A2A-Extensions` in v0.3. */
const namedBy = ({ headers }: Request): readonly string[] =>
  ['a2a-extensions', 'x-a2a-extensions']
    .flatMap((name) => headers.get(name)?.split(',') ?? [])
    .map((uri) => uri.trim())

/** Throws `extension_support_required` where the client does not know an extension without which the agent must not be called. */
export function requireExtensions({ card }: A2AContext, { request }: FaceCall): void {
  const required = card.extensions?.filter(({ required }) => required) ?? []
  const named = required.length > 0 ? namedBy(request) : []
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

/** What the history of a task is: its own messages, or all of its context, as the header of LangGraph's server chooses it. */
export const historyScopeOf = ({ request }: FaceCall): 'task' | 'context' =>
  request.headers.get(HISTORY_SCOPE.header) === 'context' ? 'context' : 'task'
