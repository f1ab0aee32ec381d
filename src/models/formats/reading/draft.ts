import type {
  Annotation,
  ContentBlock,
  Delta,
  FinishReason,
  Message,
  MessageError,
  MessageEvent,
  ToolCallBlock,
  Usage,
} from '../../../messages/index.ts'
import { withRawArgs } from '../../../messages/tool-args.ts'
import { collect, type Fields, fieldsOf, isEmpty, merge, names, toText } from '../fields.ts'
import { joinBase64 } from './base64.ts'

/** A response that is being read: as events of a stream, or, like one chunk, as whole messages. */
export interface Draft {
  readonly whole: boolean
  choices: Choice[]
  /** The events that `takeEvents` has not returned yet. */
  events: MessageEvent[]
  id: unknown
  metadata: Record<string, unknown> | undefined
  usage: Usage | undefined
  error: MessageError | undefined
  unknown: unknown[] | undefined
}

export interface Choice {
  readonly draft: Draft
  readonly index: number
  /** The blocks, of a whole response. */
  readonly content: ContentBlock[]
  /** The blocks that have started, of a stream. */
  readonly slots: Slot[]
  /** The blocks that may still grow, by their key. Undefined for a whole response. */
  readonly open: Map<unknown, Slot> | undefined
  reason: unknown
  metadata: Record<string, unknown> | undefined
}

interface Slot {
  readonly index: number
  readonly type: ContentBlock['type']
  readonly start: Fields
  /** The fields that have changed since the start. */
  patch: Record<string, unknown> | undefined
  /** The end of the base64 that cannot be decoded without the next piece. */
  tail: string
}

const EMPTY = /* @__PURE__ */ Object.freeze([]) as unknown as never[]

export const createDraft = (whole: boolean): Draft => ({
  whole,
  choices: EMPTY,
  events: EMPTY,
  id: undefined,
  metadata: undefined,
  usage: undefined,
  error: undefined,
  unknown: undefined,
})

/** Adds fields of the response itself, its id and metadata. Later values replace earlier ones. */
export function addHead(draft: Draft, fields: Fields, known?: ReadonlySet<string>): void {
  draft.id ||= fields.id
  draft.metadata = collect(draft.metadata, fields, known)
}

/** Notes that the call failed. Providers send `{ message, code }`, `{ message, type }` or text. */
export function addError(draft: Draft, raw: unknown): void {
  const { message, code, type } = fieldsOf(raw)
  const given = code ?? type
  draft.metadata = { ...draft.metadata, error: raw }
  draft.error = {
    type: 'error',
    message: toText(message ?? raw),
    ...(given ? { code: toText(given) } : undefined),
  }
  emit(choiceOf(draft), draft.error)
}

/** Keeps a chunk that the format does not know, as `metadata.unknownEvents`. */
export function addUnknown(draft: Draft, chunk: unknown): void {
  draft.unknown ??= []
  draft.unknown.push(chunk)
}

/** Finds a choice, or starts it. */
export function choiceOf(draft: Draft, index = 0): Choice {
  const { whole, choices, id, metadata } = draft
  for (const choice of choices) if (choice.index === index) return choice
  const choice: Choice = {
    draft,
    index,
    content: whole ? [] : EMPTY,
    slots: whole ? EMPTY : [],
    open: whole ? undefined : new Map(),
    reason: undefined,
    metadata: undefined,
  }
  // An array literal takes only the memory of its one item; `push` onto an empty array reserves more.
  if (choices.length > 0) choices.push(choice)
  else draft.choices = [choice]
  if (!whole)
    emit(choice, { type: 'messageStart', ...idOf(id), ...(metadata && { metadata: { ...metadata } }) })
  return choice
}

/** Adds metadata of a choice. Fields of later chunks are merged with those of earlier ones. */
export function addMetadata(choice: Choice, fields: Fields, known?: ReadonlySet<string>): void {
  const unknown = collect(choice.open ? undefined : choice.metadata, fields, known)
  if (unknown) choice.metadata = choice.open ? merge(choice.metadata ?? {}, unknown) : unknown
}

/**
 * Adds a piece of a block, and starts the block if its key is new. Text, base64, annotations and raw
 * arguments are appended; other fields are merged and sent when the block finishes.
 *
 * @param key Tells the blocks of a choice apart. Undefined continues the last block if both are text of one
 * type.
 * @param args The next piece of a call's raw arguments.
 */
export function addPart(choice: Choice, key: unknown, block: ContentBlock, args?: string): void {
  const { content, slots, open } = choice
  if (!open) {
    content.push(args ? withRawArgs(block as ToolCallBlock, args) : block)
    return
  }
  const { type, text, base64, annotations } = block as LooseBlock
  let slot = key === undefined ? slots.at(-1) : open.get(key)
  if (slot?.type !== type || (key === undefined && text === undefined)) {
    slot = { index: slots.length, type, start: block as unknown as Fields, patch: undefined, tail: '' }
    slots.push(slot)
    open.set(key, slot)
    const start = { ...block, ...(text && { text: '' }), ...(base64 && { base64: '' }) }
    emit(choice, { type: 'blockStart', index: slot.index, block: start as ContentBlock })
  } else {
    for (const annotation of annotations ?? EMPTY) send(choice, slot, { type: 'annotation', annotation })
    for (const name in block) if (!APPENDED.has(name)) addField(choice, slot, name, block[name as 'type'])
  }
  if (text) send(choice, slot, { type, text })
  if (base64) {
    const [data, tail] = joinBase64(slot.tail, base64)
    slot.tail = tail
    if (data) send(choice, slot, { type: 'data', base64: data })
  }
  if (args) send(choice, slot, { type: 'args', args })
}

const APPENDED = names('type text base64 annotations')

interface LooseBlock {
  readonly type: 'text'
  readonly text?: string
  readonly base64?: string
  readonly annotations?: readonly Annotation[]
}

/** Merges a later value of a field with the earlier ones, unless it is empty or repeated, as many are. */
function addField(choice: Choice, slot: Slot, name: string, value: unknown): void {
  const { start } = slot
  const before = slot.patch && name in slot.patch ? slot.patch[name] : start[name]
  if (!value || value === before || (name === 'args' && Object.keys(value).length === 0)) return
  slot.patch ??= {}
  const first = !(name in slot.patch)
  if (first && name in start) merge(slot.patch, { [name]: start[name] })
  merge(slot.patch, { [name]: value })
  // The first piece is sent at once, because it ends the time to the first token.
  if (first && (name === 'args' || fieldsOf(value).transcript))
    send(choice, slot, { type: 'fields', fields: merge({}, slot.patch) })
}

/** Adds to an open block of any type: a piece of a call's raw arguments, or unknown fields. */
export function addMore(choice: Choice, key: unknown, args: string | undefined, extras: Fields = {}): void {
  if (args === undefined && isEmpty(extras)) return
  const type = choice.open?.get(key)?.type ?? (args === undefined ? 'nonStandard' : 'toolCall')
  const fields =
    type === 'nonStandard' ? { value: extras } : args === undefined ? { extras } : { name: '', args: {} }
  addPart(choice, key, { type, ...fields } as ContentBlock, args)
}

/** Finishes a block and frees its key. `block` replaces what was streamed. */
export function finishPart(choice: Choice, key: unknown, block?: ContentBlock): void {
  const { open } = choice
  if (block && !open?.has(key)) addPart(choice, key, block)
  const slot = open?.get(key)
  if (!slot) return
  flush(choice, slot, block)
  open?.delete(key)
  emit(choice, { type: 'blockFinish', index: slot.index, ...(block && { block }) })
}

export function takeEvents(draft: Draft): readonly MessageEvent[] {
  const { events } = draft
  draft.events = EMPTY
  return events
}

/** Finishes all choices. The first one gets the usage of the whole response. */
export function finishDraft(draft: Draft): Message[] {
  choiceOf(draft)
  if (draft.unknown) draft.metadata = { ...draft.metadata, unknownEvents: draft.unknown }
  const { whole, id, metadata, usage, error, choices } = draft
  if (choices.length > 1) choices.sort((a, b) => a.index - b.index)
  return choices.map((choice, index) => {
    const { content, slots } = choice
    for (const slot of slots) flush(choice, slot)
    const message: { -readonly [Key in keyof Message]: Message[Key] } = { role: 'assistant', content }
    const reason = error ? 'error' : finishReasonOf(choice.reason, awaitsTool(blocksOf(choice)))
    if (id) message.id = toText(id)
    if (reason) message.finishReason = reason
    if (index === 0 && usage) message.usage = usage
    if (metadata || choice.metadata)
      message.metadata =
        choices.length > 1
          ? { ...metadata, ...choice.metadata }
          : Object.assign(metadata ?? {}, choice.metadata)
    if (!whole) {
      const { usage, metadata } = message
      emit(choice, {
        type: 'messageFinish',
        ...(reason && { reason }),
        ...(usage && { usage }),
        ...(metadata && { metadata }),
      })
    }
    return message
  })
}

/** The finish reasons of all providers, in the order in which the patterns are tried. */
const REASONS: readonly (readonly [RegExp, FinishReason])[] = [
  [/^(stop|eos|end_turn|stop_sequence|completed?)$/i, 'stop'],
  [/^(tool.?(call|use)|function_call)/i, 'toolCalls'],
  [/length|max.(output.)?tokens|context_window/i, 'length'],
  [/filter|refusal|guardrail|safety|recitation|blocklist|prohibited|spii/i, 'contentFilter'],
  [/pause|compaction|interrupted/i, 'pause'],
  [/error|fail|timeout|malformed|unexpected|too_many/i, 'error'],
]

/** Normalizes a finish reason. Some providers say `stop` for calls that wait for their results. */
export function finishReasonOf(raw: unknown, calls = false): FinishReason | undefined {
  if (typeof raw !== 'string') return undefined
  const reason = REASONS.find(([pattern]) => pattern.test(raw))?.[1] ?? 'other'
  return reason === 'stop' && calls ? 'toolCalls' : reason
}

/** The blocks so far: of a stream, as they were when they started. */
export const blocksOf = ({ content, slots, open }: Choice): readonly (Fields | ContentBlock)[] =>
  open ? slots.map(({ start }) => start) : content

const idOf = (id: unknown) => (id ? { id: toText(id) } : undefined)

/** Whether a call has no result yet. Counts them by id, because calls of several steps may have the same. */
function awaitsTool(blocks: readonly (Fields | ContentBlock)[]): boolean {
  if (!blocks.some(isResult)) return blocks.some(isWaiting)
  const open = new Map<unknown, number>()
  for (const block of blocks) {
    const { id, toolCallId } = block as Fields
    const key = isResult(block) ? toolCallId : id
    open.set(key, (open.get(key) ?? 0) + Number(isWaiting(block)) - Number(isResult(block)))
  }
  return [...open.values()].some((calls) => calls > 0)
}

const isResult = ({ type }: Fields | ContentBlock): boolean => type === 'serverToolResult'

/** Whether a block is a call, valid or not, of a tool that the provider does not run. */
const isWaiting = ({ type, extras }: Fields | ContentBlock): boolean =>
  type === 'toolCall' || (type === 'invalidToolCall' && !fieldsOf(extras).server)

function emit({ draft, index }: Choice, event: MessageEvent): void {
  const numbered = index > 0 ? { ...event, choice: index } : event
  if (draft.events === EMPTY) draft.events = [numbered]
  else draft.events.push(numbered)
}

function send(choice: Choice, { index }: Slot, delta: Delta): void {
  emit(choice, { type: 'blockDelta', index, delta })
}

/** Sends the base64 tail and the merged fields, unless the whole block replaces them. */
function flush(choice: Choice, slot: Slot, block?: ContentBlock): void {
  const { tail, patch } = slot
  if (tail && !block) send(choice, slot, { type: 'data', base64: tail })
  if (patch && !block) send(choice, slot, { type: 'fields', fields: patch })
  slot.tail = ''
  slot.patch = undefined
}
