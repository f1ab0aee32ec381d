import { type ContentBlock, type Extras, isContentBlock } from './content.ts'
import { isRecord } from './record.ts'
import type { Usage } from './usage.ts'

/** The author of a message. `reasoning` is a message that only contains reasoning. */
export type Role = 'system' | 'user' | 'assistant' | 'tool' | 'reasoning'

/** Why a model stopped, with the same values for all providers. `metadata` has the provider's own reason. */
export type FinishReason = 'stop' | 'length' | 'toolCalls' | 'contentFilter' | 'pause' | 'error' | 'other'

/** A message in the normal form. All provider formats, the protocol and traces are converted to it. */
export interface Message {
  readonly role: Role
  readonly id?: string
  readonly name?: string
  readonly content: readonly ContentBlock[]
  /** The call that a `tool` message answers. */
  readonly toolCallId?: string
  /** Whether the tool of a `tool` message succeeded. */
  readonly status?: 'success' | 'error'
  readonly finishReason?: FinishReason
  readonly usage?: Usage
  /** Plain JSON about the response: model, provider, raw finish reason. */
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly extras?: Extras
}

/** The text of a message: its text blocks, joined without separators. */
export function textOf({ content }: Pick<Message, 'content'>): string {
  let text = ''
  for (const block of content) if (block.type === 'text') text += block.text
  return text
}

const ROLES = new Set<unknown>(['system', 'user', 'assistant', 'tool', 'reasoning'])
const FIELDS = new Set([
  'role',
  'id',
  'name',
  'content',
  'toolCallId',
  'status',
  'finishReason',
  'usage',
  'metadata',
  'extras',
])

/**
 * Whether a value is a message in the normal form. Other formats have `role` and `content`, too, but
 * additional fields.
 */
export function isMessage(value: unknown): value is Message {
  if (!isRecord(value) || !ROLES.has(value.role) || !Array.isArray(value.content)) return false
  return Object.keys(value).every((key) => FIELDS.has(key)) && value.content.every(isContentBlock)
}

/**
 * Whether a message is a summary that replaces earlier ones. The middleware of LangChain and deep agents
 * stores it as a message of the user, who did not write it.
 */
export const isSummary = ({ role, extras }: Message): boolean =>
  role === 'user' && extras?.lc_source === 'summarization'
