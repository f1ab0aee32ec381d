import type {
  ContentBlock,
  InvalidToolCallBlock,
  MediaBlock,
  Message,
  ServerToolCallBlock,
  ServerToolResultBlock,
  ToolCallBlock,
} from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { fieldsOf, toText } from '../fields.ts'
import { readBlock, vocabulary } from '../reading/blocks.ts'
import { isMedia, isSound, noteOf, textOfFile } from './media.ts'

/** The place of a block. The result of a tool is a place of its own. */
export type Place = 'system' | 'user' | 'assistant' | 'tool'

/** What an API takes in a thread. */
export interface Rules {
  /** Whether it takes such media there. */
  takes(media: MediaBlock, place: Place): boolean
  /**
   * Whether a block that only one API understands came from this one, with all that it asks back: thoughts,
   * calls of its own tools and their results, blocks without a name in the normal form, and empty texts.
   */
  owns?(block: ContentBlock, place: Place): boolean
  /** The ids of calls that it takes. Default: 64 letters, digits, `_` and `-`. */
  readonly ids?: RegExp
  /** Whether a call of its own tools holds its result. Otherwise it is left out if it has none. */
  readonly holdsResults?: boolean
  /** An id for a call that has none of these. Default: `call_1`. */
  idOf?(count: number): string
  /** The names of tools that it takes. Default: 64 letters, digits, `_` and `-`. */
  readonly names?: RegExp
}

/** A message of a thread in which each call has an id, and its result among the messages that follow. */
export interface PreparedMessage extends Message {
  readonly role: Place
  /** A call has arguments, even if the model's were cut off: `invalidToolCall` does not occur. */
  readonly content: readonly Exclude<ContentBlock, InvalidToolCallBlock>[]
}

/**
 * Prepares a thread for an API, so that it is taken whatever happened in it: another provider has answered, a
 * run was cancelled or cut off, a file was attached.
 *
 * - Each call is followed by its results, in order. A call without a result gets one, and a result without a
 *   call is left out. Ids are replaced if they occur twice or the API does not take them.
 * - Media that the API takes only from a user follow the message as one of the user. Files of text become
 *   text, and others that it does not take become a note with their name.
 * - Empty texts, empty messages and blocks that only another API understands are left out.
 *
 * The same start of a thread is always prepared in the same way, so that a provider's cache can be used.
 */
export function prepareThread(messages: readonly Message[], rules: Rules): PreparedMessage[] {
  const steps = pair(messages, rules)
  const prepared: PreparedMessage[] = []
  let moved: Content = []
  const flush = () => {
    if (moved.length > 0) prepared.push({ role: 'user', content: moved })
    moved = []
  }
  for (const { message, content, calls, media } of steps) {
    const { role } = message
    if (role === 'assistant') flush()
    const all = role === 'user' ? [...moved, ...content] : content
    if (role === 'user') moved = []
    if (all.length > 0) prepared.push({ ...message, role, content: all })
    if (media.length > 0) moved = [...moved, { type: 'text', text: 'From the answer above:' }, ...media]
    for (const { given, block, result = unanswered(given) } of calls) {
      const { kept, later } = convertAll(result.content, 'tool', rules)
      if (later.length > 0) {
        moved = [...moved, { type: 'text', text: `From the result of ${block.name}:` }, ...later]
        if (kept.length === 0) kept.push({ type: 'text', text: 'The result is in the next message.' })
      }
      prepared.push({ ...result, role: 'tool', name: block.name, toolCallId: block.id, content: kept })
    }
  }
  flush()
  const isEmpty = prepared.every(({ role }) => role === 'system')
  if (isEmpty && messages.length > 0)
    prepared.push({ role: 'user', content: [{ type: 'text', text: OPENING }] })
  return prepared
}

/** What the user says in a thread that has nothing to say, and before an answer that nobody asked for. */
export const OPENING = 'Hello.'

type Content = PreparedMessage['content'][number][]

/** A message, with the calls in it and what their results are. */
interface Step {
  readonly message: Message & { readonly role: Exclude<Place, 'tool'> }
  readonly content: Content
  readonly calls: Call[]
  /** The media that do not stay in the message. */
  readonly media: Content
}

interface Call {
  readonly given: ToolCallBlock | InvalidToolCallBlock
  readonly block: ToolCallBlock & { readonly id: string }
  result?: Message
}

/** Gives each call its result: a model's ids are not unique, but results come in the order of the calls. */
function pair(messages: readonly Message[], rules: Rules): Step[] {
  const steps: Step[] = []
  const used = new Set<string>()
  const whole = wholeServerBlocks(messages, rules)
  let count = 0

  function answer(id: string | undefined, result: Message): boolean {
    for (let at = steps.length - 1; at >= 0; at--) {
      const open = steps[at]!.calls.find(({ given, result }) => !result && given.id === id)
      if (open) {
        open.result = result
        return true
      }
    }
    return false
  }

  function open(given: ToolCallBlock | InvalidToolCallBlock): Call {
    count += 1
    const id = freeId(given.id, count, used, rules)
    used.add(id)
    const { extras } = given
    const args = given.type === 'toolCall' ? wellFormed(given.args) : {}
    const name = nameOf(given.name, rules)
    return { given, block: { type: 'toolCall', id, name, args, ...(extras && { extras }) } }
  }

  function start(message: Message, role: Step['message']['role']): Step {
    const step: Step = { message: { ...message, role }, content: [], calls: [], media: [] }
    steps.push(step)
    return step
  }

  for (const message of messages) {
    const role = message.role === 'reasoning' ? 'assistant' : message.role
    if (role === 'tool') {
      answer(message.toolCallId, message)
      continue
    }
    let step = start(message, role)
    for (const block of message.content) {
      if (role === 'assistant' && isCall(block)) {
        const call = open(block)
        step.calls.push(call)
        step.content.push(call.block)
      } else if (block.type === 'serverToolCall' || block.type === 'serverToolResult') {
        if (whole.has(block)) step.content.push(wellFormed(block))
        // The tool ran between two answers of the model that are one message.
        else if (role === 'assistant' && block.type === 'serverToolResult')
          if (answer(block.toolCallId, resultOf(block))) step = start(message, role)
      } else {
        const { kept, later } = convertAll([block], role, rules)
        for (const block of kept) step.content.push(block)
        for (const block of later) step.media.push(block)
      }
    }
  }
  return steps
}

const isCall = (block: ContentBlock): block is ToolCallBlock | InvalidToolCallBlock =>
  block.type === 'toolCall' || (block.type === 'invalidToolCall' && !block.extras?.server)

const resultOf = ({ toolCallId, status, output, extras }: ServerToolResultBlock): Message => ({
  role: 'tool',
  toolCallId,
  status,
  content: [{ type: 'text', text: toText(output) }],
  ...(extras && { extras }),
})

/**
 * The calls of the API's own tools that have their result in the same answer, and these results. The last call
 * of a thread may wait for its result if the model has paused.
 */
function wholeServerBlocks(messages: readonly Message[], rules: Rules): ReadonlySet<ContentBlock> {
  const whole = new Set<ContentBlock>()
  let open: ServerToolCallBlock[] = []
  for (const { role, content } of messages) {
    if (role !== 'assistant' && role !== 'reasoning') open = []
    else
      for (const block of content) {
        if (!rules.owns?.(block, 'assistant')) continue
        if (block.type === 'serverToolCall') {
          open.push(block)
          if (rules.holdsResults) whole.add(block)
        } else if (block.type === 'serverToolResult') {
          const at = open.findIndex(({ id }) => id === block.toolCallId)
          for (const call of at < 0 ? [] : open.splice(at, 1)) whole.add(call).add(block)
        }
      }
  }
  if (messages.at(-1)?.finishReason === 'pause') for (const call of open) whole.add(call)
  return whole
}

/** What an API takes of blocks at their place, and the media that go to the user's next message. */
function convertAll(
  blocks: readonly ContentBlock[],
  place: Place,
  rules: Rules,
): { readonly kept: Content; readonly later: Content } {
  const [kept, later]: [Content, Content] = [[], []]
  for (const given of blocks) {
    const block = given.type === 'nonStandard' && !rules.owns?.(given, place) ? readRaw(given.value) : given
    const { type } = block
    if (type === 'text') {
      const text = wellFormed(block.text)
      if (text.trim() !== '' || rules.owns?.(block, place))
        kept.push(text === block.text ? block : { ...block, text })
    } else if (isMedia(block)) {
      const takes = (at: Place) => isSound(block) && rules.takes(block, at)
      if (takes(place) || rules.owns?.(block, place)) kept.push(block)
      else if (place !== 'user' && place !== 'system' && takes('user')) later.push(block)
      else kept.push({ type: 'text', text: textOfFile(block) ?? noteOf(block) })
    } else if (type === 'reasoning') {
      if (place === 'assistant' && rules.owns?.(block, place))
        kept.push({ ...block, text: wellFormed(block.text) })
    } else if (type === 'nonStandard' && rules.owns?.(block, place)) kept.push(wellFormed(block))
  }
  return { kept, later }
}

const RAW = /* @__PURE__ */ vocabulary(
  { reasoning: 'thinking', image: 'image', audio: 'input_audio', file: 'document file' },
  {
    text: 'thinking',
    base64: 'data file_data input_audio',
    mimeType: 'media_type',
    url: 'file_url',
    fileId: 'file_id',
  },
  { reasoning: 'redacted_thinking' },
)

/** A block that an application keeps in a provider's own form, such as Anthropic's documents of plain text. */
function readRaw(value: unknown): ContentBlock {
  const { type, title, source } = fieldsOf(value)
  const { type: kind, data } = fieldsOf(source)
  if (type !== 'document' || kind !== 'text') return readBlock(value, RAW)
  return { type: 'text', text: title ? `${toText(title)}:\n\n${toText(data)}` : toText(data) }
}

/** The value without halves of characters, which JSON cannot have and a text has that was cut. */
function wellFormed<Value>(value: Value): Value {
  if (typeof value === 'string') return value.replace(HALF, '\uFFFD') as Value
  if (Array.isArray(value)) return value.map(wellFormed) as Value
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [wellFormed(key), wellFormed(field)]),
  ) as Value
}

const HALF = /\p{Surrogate}/gu

const IDS = /^[a-zA-Z0-9_-]{1,64}$/

function freeId(id: string | undefined, count: number, used: ReadonlySet<string>, rules: Rules): string {
  const { ids = IDS, idOf = (at) => `call_${at}` } = rules
  if (id !== undefined && ids.test(id) && !used.has(id)) return id
  let at = count
  while (used.has(idOf(at))) at += 1
  return idOf(at)
}

const nameOf = (name: string | undefined, { names = IDS }: Rules): string =>
  name !== undefined && names.test(name)
    ? name
    : (name ?? '')
        .replace(/[^a-zA-Z0-9_-]/g, '_')
        .slice(0, 64)
        .replace(/^(?=[\d-]|$)/, '_')

/** The result of a call that was never answered. */
const unanswered = (call: ToolCallBlock | InvalidToolCallBlock): Message => ({
  role: 'tool',
  status: 'error',
  content: [
    {
      type: 'text',
      text:
        call.type === 'toolCall'
          ? 'The call was not completed.'
          : `The call was not made, because its arguments are no JSON object: ${call.args}`,
    },
  ],
})
