import type {
  Annotation,
  ContentBlock,
  Delta,
  Message,
  MessageError,
  MessageEvent,
  ToolCallBlock,
  Usage,
} from '../../messages/index.ts'
import { withRawArgs } from '../../messages/tool-args.ts'
import { joinBase64 } from './base64.ts'
import { collect, type Fields, fieldsOf, merge, names, toText } from './fields.ts'
import { finishReasonOf } from './finish.ts'

/**
 * A response being read. Readers tell it what a chunk says, with the functions of this file; a whole response they read as if
 * it were a stream of one chunk. It comes out as events or, of a whole response, as messages.
 */
export interface Draft {
  readonly whole: boolean
  choices: Choice[]
  /** Those not handed out yet. */
  events: MessageEvent[]
  id: unknown
  metadata: Record<string, unknown> | undefined
  usage: Usage | undefined
  error: MessageError | undefined
  unknown: unknown[] | undefined
}

/** One choice of the response. */
export interface Choice {
  readonly draft: Draft
  readonly index: number
  /** The blocks of a whole response. */
  readonly content: ContentBlock[]
  /** The blocks of a stream that have started. */
  readonly slots: Slot[]
  /** Those of them that may grow, by their key. */
  readonly open: Map<unknown, Slot> | undefined
  /** The raw finish reason. */
  reason: unknown
  metadata: Record<string, unknown> | undefined
}

interface Slot {
  readonly index: number
  readonly type: ContentBlock['type']
  readonly start: Fields
  /** Fields that have changed since the start. */
  patch: Record<string, unknown> | undefined
  /** The end of base64 that does not stand alone. */
  tail: string
}

const NONE = /* @__PURE__ */ Object.freeze([]) as unknown as never[]

export const createDraft = (whole: boolean): Draft => ({
  whole,
  choices: NONE,
  events: NONE,
  id: undefined,
  metadata: undefined,
  usage: undefined,
  error: undefined,
  unknown: undefined,
})

/** Fields of the response itself: the id, and metadata. The newest value of each counts. */
export function addHead(draft: Draft, fields: Fields, known: ReadonlySet<string>): void {
  draft.id ||= fields.id
  draft.metadata = collect(draft.metadata, fields, known)
}

/** The call failed. Providers write errors as `{ message, code }`, as `{ message, type }` or as text. */
export function addError(draft: Draft, raw: unknown): void {
  const { message, code, type } = fieldsOf(raw)
  const word = code ?? type
  draft.metadata = { ...draft.metadata, error: raw }
  draft.error = {
    type: 'error',
    message: toText(message ?? raw),
    ...(word ? { code: toText(word) } : undefined),
  }
  emit(choiceOf(draft), draft.error)
}

/** A chunk that is nothing of the format is kept in the metadata. */
export function addUnknown(draft: Draft, chunk: unknown): void {
  draft.unknown ??= []
  draft.unknown.push(chunk)
}

/** A choice, which starts when it is first asked for. */
export function choiceOf(draft: Draft, index = 0): Choice {
  const { whole, choices, id, metadata } = draft
  for (const choice of choices) if (choice.index === index) return choice
  const choice: Choice = {
    draft,
    index,
    content: whole ? [] : NONE,
    slots: whole ? NONE : [],
    open: whole ? undefined : new Map(),
    reason: undefined,
    metadata: undefined,
  }
  // A list that is made with its only item is as long as it, one that grows is longer.
  if (choices.length > 0) choices.push(choice)
  else draft.choices = [choice]
  if (!whole)
    emit(choice, { type: 'messageStart', ...idOf(id), ...(metadata && { metadata: { ...metadata } }) })
  return choice
}

/** Metadata of the choice. Merges. */
export function addMetadata(choice: Choice, fields: Fields, known: ReadonlySet<string>): void {
  const unknown = collect(choice.open ? undefined : choice.metadata, fields, known)
  if (unknown) choice.metadata = choice.open ? merge(choice.metadata ?? {}, unknown) : unknown
}

/**
 * A piece of a block: opens the block when its key is new, and adds to it otherwise. Text, base64, annotations and raw
 * arguments append; other fields merge and are sent when the block is finished.
 *
 * @param key What tells the blocks of a choice apart. Undefined: more of the last block if it is text of the same kind.
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
    for (const annotation of annotations ?? NONE) send(choice, slot, { type: 'annotation', annotation })
    for (const name in block) if (!APPENDED.has(name)) addField(slot, name, block[name as 'type'])
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

/** Merges a later value of a field with the earlier ones. Pieces repeat what is known, or have it empty. */
function addField(slot: Slot, name: string, value: unknown): void {
  const { start } = slot
  if (!value || value === start[name] || (name === 'args' && Object.keys(value).length === 0)) return
  slot.patch ??= {}
  if (!(name in slot.patch) && name in start) merge(slot.patch, { [name]: start[name] })
  merge(slot.patch, { [name]: value })
}

/** More of a block that is open, of whatever kind it is: a piece of a call's raw arguments, or fields that nothing is known about. */
export function addMore(choice: Choice, key: unknown, args: string | undefined, extras: Fields): void {
  const type = choice.open?.get(key)?.type ?? (args === undefined ? 'nonStandard' : 'toolCall')
  const fields =
    type === 'nonStandard' ? { value: extras } : args === undefined ? { extras } : { name: '', args: {} }
  addPart(choice, key, { type, ...fields } as ContentBlock, args)
}

/** The block is complete, and is this one if given. Its key is free again. */
export function finishPart(choice: Choice, key: unknown, block?: ContentBlock): void {
  const { open } = choice
  if (block && !open?.has(key)) addPart(choice, key, block)
  const slot = open?.get(key)
  if (!slot) return
  flush(choice, slot, block)
  open?.delete(key)
  emit(choice, { type: 'blockFinish', index: slot.index, ...(block && { block }) })
}

/** The events since the last time. */
export function takeEvents(draft: Draft): readonly MessageEvent[] {
  const { events } = draft
  draft.events = NONE
  return events
}

/** Ends all choices. The first one has the usage of them all. */
export function finishDraft(draft: Draft): Message[] {
  choiceOf(draft)
  if (draft.unknown) draft.metadata = { ...draft.metadata, unknownEvents: draft.unknown }
  const { whole, id, metadata, usage, error, choices } = draft
  if (choices.length > 1) choices.sort((a, b) => a.index - b.index)
  return choices.map((choice, index) => {
    const { content, slots } = choice
    for (const slot of slots) flush(choice, slot)
    const message: { -readonly [Key in keyof Message]: Message[Key] } = { role: 'assistant', content }
    const reason = error
      ? 'error'
      : finishReasonOf(choice.reason, waits(whole ? content : slots.map(({ start }) => start)))
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

const idOf = (id: unknown) => (id ? { id: toText(id) } : undefined)

/** Whether the model waits for a tool that it called, with arguments that can be read or not. */
const waits = (blocks: readonly (Fields | ContentBlock)[]): boolean =>
  blocks.some(
    ({ type, id, extras }) =>
      (type === 'toolCall' || (type === 'invalidToolCall' && !fieldsOf(extras).server)) &&
      !blocks.some((block) => block.type === 'serverToolResult' && (block as Fields).toolCallId === id),
  )

function emit({ draft, index }: Choice, event: MessageEvent): void {
  const numbered = index > 0 ? { ...event, choice: index } : event
  if (draft.events === NONE) draft.events = [numbered]
  else draft.events.push(numbered)
}

function send(choice: Choice, { index }: Slot, delta: Delta): void {
  emit(choice, { type: 'blockDelta', index, delta })
}

/** Sends what was held back, unless the whole block is sent. */
function flush(choice: Choice, slot: Slot, block?: ContentBlock): void {
  const { tail, patch } = slot
  if (tail && !block) send(choice, slot, { type: 'data', base64: tail })
  if (patch && !block) send(choice, slot, { type: 'fields', fields: patch })
  slot.tail = ''
  slot.patch = undefined
}
