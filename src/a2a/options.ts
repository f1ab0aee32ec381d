import type { OptionTable } from '../options.ts'
import { type A2ACardOptions, CARD_OPTIONS } from './card/options.ts'
import { type A2APushOptions, PUSH_OPTIONS } from './push/pushes.ts'

/** `artifacts` sends the answer as chunks of an artifact, `messages` as LangGraph's server does: its text so far in each status. */
export type StreamForm = 'artifacts' | 'messages'

export interface A2AOptions {
  /** How push notifications are delivered. False: the server sends none. Default: to public addresses. */
  readonly push?: A2APushOptions | false | undefined
  /** What the cards say beside what the agents tell of themselves. */
  readonly card?: A2ACardOptions | undefined
  /** Such as `/api`, for `/api/a2a/…` and `/api/.well-known/agent-card.json`. Default: none. */
  readonly basePath?: string | undefined
  /**
   * How an answer is streamed. `artifacts`: as chunks of its artifact. `messages`: as LangGraph's server does, its text so far in the
   * message of each status, and the artifact whole at the end. Default: `artifacts`.
   */
  readonly stream?: StreamForm | undefined
}

export const A2A_OPTIONS: OptionTable<A2AOptions> = {
  push: ['false', PUSH_OPTIONS],
  card: CARD_OPTIONS,
  basePath: 'string',
  stream: 'string',
}
