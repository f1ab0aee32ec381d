import type { AgentEvent } from '../agent.ts'
import { toJson } from '../to-json.ts'

type Data = Readonly<Record<string, unknown>>
type Block = Readonly<Record<string, unknown>>

/** One event of the `messages` channel. Raw `provider` events are no part of the protocol. */
export function messageEvent(
  namespace: readonly string[],
  node: string | undefined,
  data: Data,
): readonly AgentEvent[] {
  if (data.event === 'provider') return []
  return [{ method: 'messages', namespace, node, data: withBlock(data) }]
}

function withBlock(data: Data): unknown {
  const json = toJson(data) as Block
  const { content } = json
  if (!isBlock(content)) return json
  const spelled = MEDIA.has(content.type as string) ? spellMedia(content) : content
  const block = json.event === 'content-block-start' ? asStarted(spelled) : spelled
  return block === content ? json : { ...json, content: block }
}

/**
 * The engine goes on filling the block that it announced, so that a start read late already carries what its deltas are
 * about to say, and a client that appends would say it twice.
 */
function asStarted(block: Block): Block {
  switch (block.type) {
    case 'tool_call_chunk':
      return { ...block, args: '' }
    case 'audio':
      return 'data' in block ? { ...block, data: '' } : block
    default:
      return block
  }
}

const MEDIA = new Set(['image', 'audio', 'video', 'file'])

/** Clients read the bytes of media in `data`; names are snake_case on the wire. */
function spellMedia(block: Block): Block {
  const { base64, mimeType, fileId, ...rest } = block
  return {
    ...rest,
    ...(base64 !== undefined && { data: base64 }),
    ...(mimeType !== undefined && { mime_type: mimeType }),
    ...(fileId !== undefined && { file_id: fileId }),
  }
}

const isBlock = (value: unknown): value is Block => typeof value === 'object' && value !== null
