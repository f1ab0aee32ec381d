import { AgentwireError } from '../../../core/errors.ts'
import type { Authenticate } from '../../../core/http/index.ts'
import { filterOf } from '../../../core/metadata-filter.ts'
import type { Authorize } from '../../kit/access.ts'
import { fieldsAfter, nameOf, valueFor } from './events.ts'
import { refusing } from './refusals.ts'
import { identify, userOfEvent } from './users.ts'

/** The part of an `Auth` from `@langchain/langgraph-sdk/auth` that a server uses. */
export interface LangGraphAuth {
  readonly '~handlerCache': {
    readonly authenticate?: ((request: Request) => unknown) | undefined
    readonly callbacks?: Readonly<Record<string, (event: never) => unknown>> | undefined
  }
}

/** The server options that `langgraphAuth` returns. */
export interface LangGraphAuthOptions {
  readonly authenticate: Authenticate
  readonly authorize: Authorize
}

/**
 * Turns an `Auth` from `@langchain/langgraph-sdk/auth` into server options:
 * `createAgentServer({ agents, ...langgraphAuth(auth) })`. As on LangGraph's platform, only its filters
 * restrict access: if no handler returns a filter, every authenticated user sees everything. Throws
 * `AgentwireError` if the value is not an `Auth`, or if it has no `authenticate`, because it would accept
 * everyone. See docs/users.md.
 */
export function langgraphAuth(auth: LangGraphAuth): LangGraphAuthOptions {
  const handlers = (Object(auth) as Partial<LangGraphAuth>)['~handlerCache']
  if (!handlers) throw unusable('is not an Auth from @langchain/langgraph-sdk/auth.')
  const { authenticate } = handlers
  if (!authenticate)
    throw unusable('has no authenticate handler and would let everyone in: call auth.authenticate().')
  return {
    authenticate: (request) => identify(authenticate, request),
    async authorize(principal, asked, resource, read) {
      const event = nameOf(asked)
      const [type, action] = event.split(':') as [string, string]
      const handler = [event, type, `*:${action}`, '*']
        .map((key) => handlers.callbacks?.[key])
        .find((found) => found !== undefined)
      if (!handler) return {}
      if (!principal) throw new TypeError(`${event} requires an authenticated user.`)
      const sent = await read()
      const user = userOfEvent(principal)
      const value = valueFor(event, sent, resource)
      const asks = { event, resource: type, action, value, user, permissions: user.permissions }
      const answer = await refusing(() => handler(asks as never))
      if (answer === false) return false
      const filter =
        answer == null || answer === true ? undefined : filterOf(answer, `The answer of ${event}`)
      return { filter, body: fieldsAfter(event, sent, value) }
    },
  }
}

const unusable = (why: string): AgentwireError => new AgentwireError('invalid_argument', why)
