import type { Authenticate } from '../../core/http/index.ts'
import type { OptionTable } from '../../core/options.ts'
import type { NamedAssistant } from '../kit/assistants.ts'
import type { FaceContext } from '../kit/routes.ts'
import { type A2ACardOptions, CARD_OPTIONS, type CardSettings } from './card/options.ts'
import { type A2APushOptions, PUSH_OPTIONS } from './push/pushes.ts'

/** LangGraph's header that chooses the history of a task: `task` or `context`. */
export const HISTORY_SCOPE_HEADER = 'langgraph-a2a-history-scope'

/** The headers of A2A, of both versions, and of its extensions. */
export const A2A_HEADERS = {
  request: ['a2a-version', 'a2a-extensions', 'x-a2a-extensions', HISTORY_SCOPE_HEADER],
  response: ['a2a-version', 'a2a-extensions', 'x-a2a-extensions'],
} as const

/**
 * `artifacts` sends the answer as chunks of an artifact. `messages` sends its text so far in each status,
 * like LangGraph's server.
 */
export type StreamForm = 'artifacts' | 'messages'

/** The options of A2A. */
export interface A2AOptions {
  /** How push notifications are delivered. False: the server sends none. Default: to public addresses. */
  readonly push?: A2APushOptions | false | undefined
  /** The contents of the cards, in addition to the agents' profiles. */
  readonly card?: A2ACardOptions | undefined
  /**
   * The prefix of the routes, such as `/api` for `/api/a2a/…` and `/api/.well-known/agent-card.json`.
   * Default: none.
   */
  readonly basePath?: string | undefined
  /**
   * How an answer is streamed. `artifacts`: as chunks of its artifact. `messages`: like LangGraph's server,
   * with the text so far in the message of each status, and the complete artifact at the end. Default:
   * `artifacts`.
   */
  readonly stream?: StreamForm | undefined
}

export const A2A_OPTIONS: OptionTable<A2AOptions> = {
  push: ['false', PUSH_OPTIONS],
  card: CARD_OPTIONS,
  basePath: 'string',
  stream: 'string',
}

/** The context of every endpoint in this group. */
export interface A2AContext extends FaceContext {
  readonly options: A2AOptions
  /** Undefined if all callers are accepted. */
  readonly authenticate: Authenticate | undefined
  /** Undefined if the server sends no push notifications. */
  readonly push: A2APushOptions | undefined
  /** The settings of its assistants' cards. */
  readonly card: CardSettings
  /** The assistant whose id is in the path. Absent if the path names a graph. */
  readonly assistant?: NamedAssistant['assistant']
}
