/** The parts of the AI SDK's messages that this face writes. Source: `UIMessage` of `ai` 6 and 7. */

export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
}

export interface ChatMetadata {
  /** The tokens of all model calls of this answer. Subagents count separately. */
  readonly usage?: TokenUsage | undefined
}

export interface ChatMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly metadata?: ChatMetadata | undefined
  readonly parts: readonly ChatPart[]
}

export type ChatPart =
  | { readonly type: 'step-start' }
  | { readonly type: 'text' | 'reasoning'; readonly text: string; readonly state?: 'done' | undefined }
  /** `url` may be a data URL. */
  | FilePart
  | SourcePart
  | ToolPart
  | DataPart

export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly url: string
  readonly filename?: string | undefined
}

export type SourcePart =
  | {
      readonly type: 'source-url'
      readonly sourceId: string
      readonly url: string
      readonly title?: string | undefined
    }
  | {
      readonly type: 'source-document'
      readonly sourceId: string
      readonly mediaType: string
      readonly title: string
    }

export interface DataPart {
  readonly type: `data-${string}`
  readonly id?: string | undefined
  readonly data: unknown
}

/** A tool call and its state. */
export type ToolPart = (
  | { readonly type: 'dynamic-tool'; readonly toolName: string }
  | { readonly type: `tool-${string}` }
) & {
  readonly toolCallId: string
  readonly providerExecuted?: true | undefined
  readonly input: unknown
} & ToolState

export type ToolState =
  | { readonly state: 'input-available' }
  | { readonly state: 'approval-requested'; readonly approval: { readonly id: string } }
  | { readonly state: 'output-available'; readonly output: unknown }
  | { readonly state: 'output-error'; readonly errorText: string }

/** The error of a call that will never get a result. */
export const UNFINISHED = 'There is no result.'
