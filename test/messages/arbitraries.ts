import fc from 'fast-check'
import type { Annotation, ContentBlock, Message, MessageEvent, Usage } from '../../src/messages/index.ts'

/** Removes the keys that are undefined. */
const some = <T extends object>(
  model: { [K in keyof T]: fc.Arbitrary<T[K]> },
  required: readonly (keyof T)[],
) => fc.record(model, { requiredKeys: [...required] as never[] }) as unknown as fc.Arbitrary<T>

const word = fc.string({ minLength: 1, maxLength: 8 })
const text = fc.string({ maxLength: 40, unit: 'grapheme' })
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown)
const args = fc.dictionary(word, json, { maxKeys: 4 }).map(plain)
const extras = fc.dictionary(word, json, { minKeys: 1, maxKeys: 3 }).map(plain)
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 60 })
  .map((bytes) => btoa(String.fromCharCode(...bytes)))

function plain(value: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}

export const annotation: fc.Arbitrary<Annotation> = fc.oneof(
  some<Extract<Annotation, { type: 'citation' }>>(
    {
      type: fc.constant('citation'),
      id: word,
      url: word,
      title: word,
      startIndex: fc.nat(),
      endIndex: fc.nat(),
      citedText: text,
      extras,
    },
    ['type'],
  ),
  some<Extract<Annotation, { type: 'nonStandard' }>>(
    { type: fc.constant('nonStandard'), id: word, value: json },
    ['type', 'value'],
  ),
)

const common = { id: word, extras }

export const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  some(
    {
      type: fc.constant('text' as const),
      text,
      annotations: fc.array(annotation, { minLength: 1, maxLength: 3 }),
      ...common,
    },
    ['type', 'text'],
  ),
  some({ type: fc.constant('reasoning' as const), text, ...common }, ['type', 'text']),
  some(
    {
      type: fc.constantFrom('image' as const, 'audio' as const, 'video' as const, 'file' as const),
      url: word,
      base64,
      fileId: word,
      mimeType: word,
      ...common,
    },
    ['type'],
  ),
  some({ type: fc.constant('toolCall' as const), name: word, args, ...common }, ['type', 'name', 'args']),
  some({ type: fc.constant('invalidToolCall' as const), name: word, args: text, error: word, ...common }, [
    'type',
    'args',
    'error',
  ]),
  some({ type: fc.constant('serverToolCall' as const), name: word, args, ...common }, [
    'type',
    'name',
    'args',
  ]),
  some(
    {
      type: fc.constant('serverToolResult' as const),
      toolCallId: word,
      status: fc.constantFrom('success' as const, 'error' as const),
      output: json,
      ...common,
    },
    ['type', 'toolCallId', 'status'],
  ),
  some({ type: fc.constant('nonStandard' as const), value: json, ...common }, ['type', 'value']),
)

const tokens = fc.nat({ max: 100_000 })
export const usage: fc.Arbitrary<Usage> = some<Usage>(
  {
    inputTokens: tokens,
    outputTokens: tokens,
    totalTokens: tokens,
    inputDetails: fc
      .dictionary(fc.constantFrom('cache_read', 'ephemeral_5m_input_tokens', 'audio'), tokens)
      .map(plain) as never,
    outputDetails: fc.dictionary(fc.constantFrom('reasoning', 'audio'), tokens).map(plain) as never,
    inputCost: tokens,
    outputCost: tokens,
    totalCost: tokens,
    inputCostDetails: fc.dictionary(fc.constantFrom('cache_read'), tokens).map(plain) as never,
    outputCostDetails: fc.dictionary(fc.constantFrom('reasoning'), tokens).map(plain) as never,
  },
  ['inputTokens', 'outputTokens', 'totalTokens'],
)

const metadata = fc
  .dictionary(fc.constantFrom('model', 'provider', 'stopReason'), json, { minKeys: 1 })
  .map(plain)

const reasons = ['stop', 'length', 'toolCalls', 'contentFilter', 'pause', 'error', 'other'] as const
const blocks = fc.array(block, { maxLength: 5 })

export const assistantMessage: fc.Arbitrary<Message> = some<Message>(
  {
    role: fc.constant('assistant'),
    id: word,
    name: word,
    content: blocks,
    finishReason: fc.constantFrom(...reasons),
    usage,
    metadata,
  },
  ['role', 'content'],
)

/** Any message that the wire can carry, with the fields of its role. */
export const message: fc.Arbitrary<Message> = fc.oneof(
  some<Message>(
    {
      role: fc.constant('assistant'),
      id: word,
      name: word,
      content: blocks,
      finishReason: fc.constantFrom(...reasons),
      usage,
      metadata,
      extras,
    },
    ['role', 'content'],
  ),
  some<Message>(
    { role: fc.constantFrom('user', 'system'), id: word, name: word, content: blocks, metadata, extras },
    ['role', 'content'],
  ),
  some<Message>(
    {
      role: fc.constant('tool'),
      id: word,
      name: word,
      content: blocks,
      toolCallId: word,
      status: fc.constantFrom('success', 'error'),
      metadata,
      extras,
    },
    ['role', 'content', 'toolCallId'],
  ),
)

/** The events of one block, whose text is cut anywhere. */
function blockEvents(
  block: ContentBlock,
  index: number,
  cuts: readonly number[],
  repeat: boolean,
): MessageEvent[] {
  const finish: MessageEvent = { type: 'blockFinish', index, ...(repeat && { block }) }
  const start = (empty: ContentBlock): MessageEvent => ({ type: 'blockStart', index, block: empty })
  const delta = (one: Extract<MessageEvent, { type: 'blockDelta' }>['delta']): MessageEvent => ({
    type: 'blockDelta',
    index,
    delta: one,
  })
  switch (block.type) {
    case 'text': {
      const { annotations, ...rest } = block
      return [
        start({ ...rest, text: '' }),
        ...cut(block.text, cuts).map((piece) => delta({ type: 'text', text: piece })),
        ...(annotations ?? []).map((annotation) => delta({ type: 'annotation', annotation })),
        finish,
      ]
    }
    case 'reasoning': {
      const { extras, ...rest } = block
      return [
        start({ ...rest, text: '' }),
        ...cut(block.text, cuts).map((piece) => delta({ type: 'reasoning', text: piece })),
        ...(extras ? [delta({ type: 'fields', fields: { extras } })] : []),
        finish,
      ]
    }
    case 'toolCall':
    case 'serverToolCall': {
      const { id, ...rest } = block
      return [
        start({ ...rest, name: '', args: {} }),
        ...cut(JSON.stringify(block.args), cuts).map((piece) => delta({ type: 'args', args: piece })),
        delta({ type: 'fields', fields: { name: block.name, ...(id !== undefined && { id }) } }),
        finish,
      ]
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'file': {
      const { base64: data, ...rest } = block
      if (data === undefined) return [start(block), finish]
      const aligned = cuts.map((place) => place - (place % 4))
      return [
        start(rest),
        ...cut(data, aligned).map((piece) => delta({ type: 'data', base64: piece })),
        finish,
      ]
    }
    default:
      return [start(block), finish]
  }
}

function cut(whole: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((place, at) => whole.slice(place, places[at] ?? whole.length))
}

/** A message, and a stream of it with any cuts and any interleaving of the blocks. */
export const streamed: fc.Arbitrary<{ readonly message: Message; readonly events: readonly MessageEvent[] }> =
  assistantMessage.chain((whole) =>
    fc
      .record({
        cuts: fc.array(fc.array(fc.nat({ max: 60 }), { maxLength: 6 }), { minLength: 5, maxLength: 5 }),
        repeat: fc.boolean(),
        order: fc.infiniteStream(fc.nat({ max: 4 })),
        early: fc.boolean(),
      })
      .map(({ cuts, repeat, order, early }) => {
        const { content, finishReason, usage: counts, metadata: about, ...head } = whole
        const queues = content.map((one, index) => blockEvents(one, index, cuts[index]!, repeat))
        const middle: MessageEvent[] = []
        while (queues.some((queue) => queue.length > 0)) {
          const queue = queues[order.next().value!]
          const event = queue?.shift() ?? queues.find((one) => one.length > 0)!.shift()!
          middle.push(event)
        }
        const known = about && { metadata: about }
        const finish: MessageEvent = {
          type: 'messageFinish',
          ...(finishReason && { reason: finishReason }),
          ...(counts && { usage: counts }),
          ...(!early && known),
        }
        return {
          message: whole,
          events: [{ type: 'messageStart' as const, ...head, ...(early && known) }, ...middle, finish],
        }
      }),
  )

export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value)
    for (const inner of Object.values(value)) freeze(inner)
  }
  return value
}
