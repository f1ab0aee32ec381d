import type { Annotation, ContentBlock, MediaBlock } from './content.ts'
import type { BlockPatch, Delta } from './events.ts'
import { defined } from './record.ts'
import { withRawArgs } from './tool-args.ts'

/** A block that is being streamed. Parts are only appended; `toBlock` assembles the block. */
export interface BlockDraft {
  block: ContentBlock
  text: string | undefined
  args: string | undefined
  base64: string | undefined
  annotations: Annotation[] | undefined
}

export function createDraft(block: ContentBlock): BlockDraft {
  return { block, text: undefined, args: undefined, base64: undefined, annotations: undefined }
}

/** The block that a delta starts if there was no `blockStart`. */
export function impliedBlock(delta: Delta): ContentBlock {
  switch (delta.type) {
    case 'reasoning':
      return { type: 'reasoning', text: '' }
    case 'args':
      return { type: 'toolCall', name: '', args: {} }
    case 'data':
      return { type: 'file' }
    case 'fields':
      return { type: 'nonStandard', value: null }
    default:
      return { type: 'text', text: '' }
  }
}

/** The block types that accept each delta. All accept `fields`. */
const TAKERS: Readonly<Record<Exclude<Delta['type'], 'fields'>, readonly ContentBlock['type'][]>> = {
  text: ['text'],
  annotation: ['text'],
  reasoning: ['reasoning'],
  args: ['toolCall', 'serverToolCall'],
  data: ['image', 'audio', 'video', 'file'],
}

export function accepts({ type }: ContentBlock, delta: Delta): boolean {
  return delta.type === 'fields' || TAKERS[delta.type].includes(type)
}

/** Adds a delta that the block accepts. */
export function applyDelta(draft: BlockDraft, delta: Delta): void {
  switch (delta.type) {
    case 'text':
    case 'reasoning':
      draft.text = (draft.text ?? (draft.block as { text: string }).text) + delta.text
      return
    case 'args':
      draft.args = (draft.args ?? '') + delta.args
      return
    case 'data':
      draft.base64 = (draft.base64 ?? (draft.block as MediaBlock).base64 ?? '') + delta.base64
      return
    case 'annotation':
      draft.annotations ??= [...((draft.block as { annotations?: readonly Annotation[] }).annotations ?? [])]
      draft.annotations.push(delta.annotation)
      return
    case 'fields':
      draft.block = patched(draft.block, delta.fields)
      if (delta.fields.args) draft.args = undefined
  }
}

function patched(block: ContentBlock, { extras, ...fields }: BlockPatch): ContentBlock {
  const merged = extras ? { extras: { ...block.extras, ...extras } } : undefined
  return { ...block, ...fields, ...merged } as ContentBlock
}

/** The block so far, with its arguments parsed. */
export function toBlock({ block, text, args, base64, annotations }: BlockDraft): ContentBlock {
  switch (block.type) {
    case 'text':
      if (text === undefined && !annotations) return block
      return { ...block, ...defined({ text, annotations: annotations && [...annotations] }) }
    case 'reasoning':
      return text === undefined ? block : { ...block, text }
    case 'toolCall':
    case 'serverToolCall':
      return args === undefined ? block : withRawArgs(block, args)
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return base64 === undefined ? block : { ...block, base64 }
    default:
      return block
  }
}
