import type { ContentBlock, Message } from '../../../messages/index.ts'
import { argsOf, asIs, dropUndefined, urlOf, writeCitation } from '../fields.ts'
import { RESULT_FIELDS } from '../providers/openai-responses.ts'
import type { Target } from './target.ts'
import { spelledRole } from './target.ts'

/** OpenAI Responses: a request has `instructions` and the items of `input`, a response those of `output`. */
export const responsesTarget: Target = {
  name: 'responses',
  writeInputs(messages) {
    const [first] = messages
    const text = first?.role === 'system' && !first.extras && first.content.length === 1 && first.content[0]
    const instructions = text && text.type === 'text' && !text.extras ? text.text : undefined
    const rest = instructions === undefined ? messages : messages.slice(1)
    return dropUndefined({ instructions, input: rest.flatMap(writeMessage) })
  },
  writeOutputs([message]) {
    const { id, content = [], finishReason, metadata } = message ?? {}
    const reasons = { length: 'max_output_tokens', contentFilter: 'content_filter' }
    const reason = reasons[finishReason as 'length'] as string | undefined
    return dropUndefined({
      id,
      object: 'response',
      model: metadata?.model,
      status: finishReason === 'error' ? 'failed' : reason ? 'incomplete' : 'completed',
      incomplete_details: reason && { reason },
      output: writeItems(content),
    })
  },
}

type Item = Record<string, unknown>

function writeMessage({ role, toolCallId, content, extras }: Message): unknown[] {
  if (role === 'assistant' || role === 'reasoning') return writeItems(content)
  const parts = content.map((block) => writePart(block, 'input_text'))
  const [only] = content
  const plain = content.length === 1 && only?.type === 'text' && !only.extras ? only.text : parts
  // An item without a type is a message.
  const spelled = spelledRole(role, extras)
  if (role !== 'tool') return [dropUndefined({ ...extras, type: undefined, role: spelled, content: plain })]
  const type = /_output$/.test(String(extras?.type)) ? extras?.type : 'function_call_output'
  const output = type === 'computer_call_output' ? parts[0] : plain
  return [writeOutput(type, toolCallId, type === 'tool_search_output' ? parts : output, extras)]
}

/** An item that is the result of a call. A search for tools that OpenAI ran itself names no call. */
function writeOutput(type: unknown, callId: unknown, output: unknown, extras: Item = {}): Item {
  const unnamed = extras.execution === 'server' || extras.id === callId
  const field = type === 'tool_search_output' ? 'tools' : 'output'
  return dropUndefined({ ...extras, type, call_id: unnamed ? extras.call_id : callId, [field]: output })
}

/** Writes blocks as items. Consecutive blocks with the same id are parts of one item. */
function writeItems(blocks: readonly ContentBlock[]): unknown[] {
  const items: Item[] = []
  for (const block of blocks) {
    const { type, id, extras: { type: kind, item_id, phase, encrypted_content, ...extras } = {} } = block
    const last = items.at(-1)
    /** The list of parts in the last item if this block continues it, or else in a new item. */
    const itemOf = (fields: Item, list: string): unknown[] => {
      if (!last || last.type !== fields.type || last.id !== id || !last[list])
        items.push(dropUndefined({ ...fields, id }))
      return items.at(-1)![list] as unknown[]
    }
    if (type === 'text')
      itemOf({ type: 'message', role: 'assistant', phase, content: [] }, 'content').push(
        writePart(block, 'output_text'),
      )
    else if (type === 'reasoning') {
      const raw = kind === 'reasoning_text'
      const list = itemOf({ type, encrypted_content, summary: [], content: raw ? [] : undefined }, 'summary')
      if (raw) ((items.at(-1)!.content ??= []) as unknown[]).push({ type: kind, text: block.text })
      else if (block.text) list.push({ type: 'summary_text', text: block.text })
    } else if (type === 'toolCall' || type === 'serverToolCall' || type === 'invalidToolCall') {
      const { name = '', args } = block
      const own = typeof kind === 'string' && name === kind.replace(/_call$/, '') && typeof args !== 'string'
      const server = type === 'serverToolCall' || extras.server
      const fallback = server ? 'mcp_call' : kind === 'custom' ? 'custom_tool_call' : 'function_call'
      const written = /_(call|tools)$/.test(String(kind)) ? kind : fallback
      items.push(
        dropUndefined({
          ...extras,
          type: written,
          ...(server ? { id } : { id: item_id, call_id: id }),
          ...(kind === 'tool_search_call'
            ? { arguments: args }
            : own
              ? args
              : written === 'custom_tool_call' && typeof args !== 'string'
                ? { name, ...args }
                : { name, arguments: argsOf(block as never) }),
        }),
      )
    } else if (type === 'serverToolResult') {
      const { toolCallId, status, output } = block
      const apart = /_output$/.test(String(kind))
      const call = apart ? undefined : items.find((item) => item.id === toolCallId)
      const result = status === 'error' ? 'error' : (RESULT_FIELDS[String(call?.type)] ?? 'output')
      if (call) call[result] = output
      else items.push(writeOutput(apart ? kind : 'function_call_output', toolCallId, output, extras))
    } else if (type === 'image' && last?.type === 'image_generation_call') last.result = block.base64
    else items.push(asIs(block) as Item)
  }
  return items
}

function writePart(block: ContentBlock, text: string): unknown {
  const { type, extras: { type: kind, phase: _, ...extras } = {} } = block
  switch (type) {
    case 'text':
      return kind === 'refusal'
        ? { type: kind, refusal: block.text }
        : dropUndefined({
            ...extras,
            type: text,
            text: block.text,
            annotations: text === 'output_text' ? (block.annotations ?? []).map(writeCitation) : undefined,
          })
    case 'image':
      return dropUndefined({
        ...extras,
        type: kind ?? 'input_image',
        image_url: urlOf(block),
        file_id: block.fileId,
      })
    case 'file': {
      const { base64, url: file_url, fileId: file_id } = block
      return dropUndefined({
        ...extras,
        type: 'input_file',
        file_data: base64 && urlOf(block),
        file_url,
        file_id,
      })
    }
    default:
      return asIs(block)
  }
}
