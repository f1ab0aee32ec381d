import type { ContentBlock, Message, Usage } from '../../../messages/index.ts'
import {
  collect,
  type Fields,
  fieldsOf,
  listOf,
  manyOf,
  names,
  respell,
  spellings,
  stringOf,
  toText,
} from '../fields.ts'
import { readBlock, readCitation, toCall, vocabulary } from '../reading/blocks.ts'
import { defineFormat } from '../reading/define.ts'
import {
  addError,
  addHead,
  addMetadata,
  addPart,
  addUnknown,
  type Choice,
  choiceOf,
} from '../reading/draft.ts'
import { readInputMessage, toRequest } from '../reading/request.ts'
import { laterCounts, toUsage } from '../reading/usage.ts'

/** Cohere's Chat API, version 2, as its API and its SDK spell it. */
export const cohere = defineFormat({
  name: 'cohere',
  provider: 'cohere',
  detect(value) {
    const fields = fieldsOf(value)
    const { type, message, messages, delta, prompt } = fields
    if (EVENT.test(stringOf(type))) return type !== 'debug' || prompt || delta ? 'chunk' : undefined
    const { content, tool_calls = fieldsOf(message).toolCalls } = fieldsOf(message)
    const ended = 'finish_reason' in fields || 'finishReason' in fields
    if (ended && (Array.isArray(content) || tool_calls)) return 'response'
    const own = Object.keys(fields).some((key) => OWN.test(key))
    return messages && (own || listOf(messages).some((item) => Object.keys(fieldsOf(item)).some(isPlan)))
      ? 'request'
      : undefined
  },
  readRequest(request) {
    const fields = fieldsOf(respell(request, NAMES))
    return toRequest(fields, REQUEST, listOf(fields.messages).map(readMessage), fields.messages)
  },
  unwrap: (value) => respell(value, NAMES),
  open(draft) {
    const texts = new Set<unknown>()
    let usage: Fields | undefined
    return (event) => {
      const { type, id, index } = event
      const known = EVENT.test(stringOf(type))
      if (type === 'debug' || (type && !known)) return addUnknown(draft, event)
      const about: Fields = type ? { id, ...fieldsOf(event.delta) } : event
      addHead(draft, about, RESPONSE)
      if (about.usage) {
        usage = laterCounts(usage, about.usage)
        addHead(draft, { usage })
        draft.usage = readUsage(usage)
      }
      const choice = choiceOf(draft)
      readParts(choice, fieldsOf(about.message), texts, index)
      addMetadata(choice, fieldsOf(about.message), MESSAGE)
      choice.reason = about.finish_reason || choice.reason
      if (about.error) addError(draft, about.error)
    }
  },
})

const EVENT =
  /^(message|content|citation|tool-call)-(start|end)$|^(content|tool-call|tool-plan)-delta$|^debug$/
const OWN = /^(citation_?options|safety_?mode|strict_?tools)$/i
const isPlan = (key: string): boolean => /^tool_?plan$/i.test(key)

const NAMES = spellings(
  'messages message delta content usage tokens billed_units input_tokens output_tokens cached_tokens finish_reason tool_calls tool_plan tool_call_id citations content_index image_url',
)
const REQUEST = names('messages')
const RESPONSE = names('id message')
const CALL = names('id type function')
const MESSAGE = names('role content tool_plan tool_calls citations')
const INPUT = names('tool_call_id', MESSAGE)

const VOCABULARY = vocabulary(
  { text: 'text', reasoning: 'thinking', image: 'image_url' },
  { text: 'thinking', url: 'image_url' },
)

/**
 * Reads the blocks of a message, or the piece of one in an event.
 *
 * @param texts The indexes of the text blocks so far, to which citations refer.
 * @param index The index of the piece.
 */
function readParts(choice: Choice, message: Fields, texts = new Set<unknown>(), index?: unknown): void {
  const { content, tool_plan: plan, tool_calls: calls } = message
  if (plan) addPart(choice, 'plan', { type: 'reasoning', text: toText(plan), extras: { type: 'tool_plan' } })
  const blocks = manyOf(content).map((part) => {
    const { type, text, thinking } = fieldsOf(part)
    const kind = type ?? (text === undefined && thinking !== undefined ? 'thinking' : 'text')
    return readBlock(typeof part === 'string' ? part : { ...fieldsOf(part), type: kind }, VOCABULARY)
  })
  for (const [at, { type }] of blocks.entries()) if (type === 'text') texts.add(index ?? at)
  const last = [...texts].at(-1)
  const cited = new Map<unknown, unknown[]>()
  const unplaced: unknown[] = []
  for (const citation of manyOf(message.citations)) {
    const { content_index: place } = fieldsOf(citation)
    const at = texts.has(place) ? place : last
    if (at === undefined) unplaced.push(citation)
    else cited.set(at, [...(cited.get(at) ?? []), citation])
  }
  if (unplaced.length > 0) addMetadata(choice, { citations: unplaced })
  for (const [at, block] of blocks.entries()) {
    addPart(choice, index ?? at, withSources(block, cited.get(index ?? at)))
    cited.delete(index ?? at)
  }
  for (const [at, citations] of cited) addPart(choice, at, withSources({ type: 'text', text: '' }, citations))
  for (const [at, value] of manyOf(calls).entries()) {
    const call = fieldsOf(value)
    const { name, arguments: args } = fieldsOf(call.function)
    const extras = collect(undefined, call, CALL)
    addPart(choice, `call-${index ?? at}`, toCall('toolCall', call.id, name, undefined, extras), toText(args))
  }
}

const withSources = (block: ContentBlock, citations: readonly unknown[] = []): ContentBlock =>
  citations.length > 0 ? ({ ...block, annotations: citations.map(readCitation) } as ContentBlock) : block

const readMessage = (value: unknown): Message =>
  readInputMessage(value, readParts, INPUT, { toolCallId: fieldsOf(value).tool_call_id })

/** Billed units differ from the tokens that were counted, and stay in the metadata. */
function readUsage({ tokens, billed_units, cached_tokens: cached }: Fields): Usage | undefined {
  const { input_tokens: input, output_tokens: output } = fieldsOf(tokens ?? billed_units)
  if (input === undefined && output === undefined) return undefined
  return toUsage(input, output, { cache_read: cached }, {})
}
