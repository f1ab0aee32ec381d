import { type Shape, toolFlags } from './parts.ts'
import type {
  ChatMetadata,
  ChatPart,
  DataPart,
  FilePart,
  SourcePart,
  ToolPart,
  ToolState,
} from './ui-message.ts'

/**
 * The chunks that this face sends, with no key that the strict schemas of `ai` 6.0.0 do not know. Source:
 * `uiMessageChunkSchema` of `ai` 6 and 7.
 */
export type Chunk =
  | { readonly type: 'start'; readonly messageId: string }
  | { readonly type: 'start-step' | 'finish-step' | 'abort' }
  | { readonly type: 'message-metadata'; readonly messageMetadata: ChatMetadata }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | (ToolChunk & { readonly type: 'tool-input-start' })
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  | (ToolChunk & { readonly type: 'tool-input-available'; readonly input: unknown })
  | (ToolChunk & { readonly type: 'tool-input-error'; readonly input: unknown; readonly errorText: string })
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: 'tool-output-available'
      readonly toolCallId: string
      readonly output: unknown
      readonly preliminary?: true
    }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | Omit<FilePart, 'filename'>
  | SourcePart
  | (DataPart & { readonly transient?: true })
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'finish'; readonly finishReason: FinishReason }

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'

interface ToolChunk {
  readonly toolCallId: string
  readonly toolName: string
  readonly providerExecuted?: true
  readonly dynamic?: true
}

export const toolChunk = (id: string, name: string, shape: Shape): ToolChunk => ({
  toolCallId: id,
  toolName: name,
  ...toolFlags(name, shape),
})

/** The chunks of a part. `key` makes the ids of texts unique. */
export function chunksOf(part: ChatPart, key: string, shape: Shape): readonly Chunk[] {
  switch (part.type) {
    case 'step-start':
      return [{ type: 'start-step' }]
    case 'text':
    case 'reasoning': {
      const { type, text } = part as { readonly type: 'text' | 'reasoning'; readonly text: string }
      return [
        { type: `${type}-start`, id: key },
        { type: `${type}-delta`, id: key, delta: text },
        { type: `${type}-end`, id: key },
      ]
    }
    case 'file': {
      const { mediaType, url } = part as FilePart
      return [{ type: 'file', mediaType, url }]
    }
    case 'source-url':
    case 'source-document':
      return [part as SourcePart]
    default:
      return 'toolCallId' in part ? chunksOfTool(part, shape) : [part as DataPart]
  }
}

function chunksOfTool(part: ToolPart, shape: Shape): readonly Chunk[] {
  const { toolCallId, input } = part
  const name =
    part.type === 'dynamic-tool' ? (part as { toolName: string }).toolName : part.type.slice('tool-'.length)
  return [
    { type: 'tool-input-available', ...toolChunk(toolCallId, name, shape), input },
    ...chunksOfState(part, toolCallId),
  ]
}

/** The state of a call whose input is known. */
export function chunksOfState(state: ToolState, toolCallId: string): readonly Chunk[] {
  switch (state.state) {
    case 'input-available':
      return []
    case 'approval-requested':
      return [{ type: 'tool-approval-request', approvalId: state.approval.id, toolCallId }]
    case 'output-available':
      return [{ type: 'tool-output-available', toolCallId, output: state.output }]
    case 'output-error':
      return [{ type: 'tool-output-error', toolCallId, errorText: state.errorText }]
  }
}

/** A chunk as a server-sent event. */
export function frameOf(chunk: Chunk): string {
  // Most chunks are text deltas, and building their JSON by hand is faster.
  if (chunk.type !== 'text-delta') return `data: ${JSON.stringify(chunk)}\n\n`
  const { id, delta } = chunk
  return `data: {"type":"text-delta","id":${JSON.stringify(id)},"delta":${JSON.stringify(delta)}}\n\n`
}

/** The last event of a complete stream. */
export const DONE = 'data: [DONE]\n\n'
