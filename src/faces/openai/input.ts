import { uuid7 } from '../../core/ids.ts'
import { toWireMessage, type WireMessage } from '../../messages/index.ts'
import { contentOf, outputOf, plainText, withoutTemplate } from './content.ts'
import { badRequest } from './errors.ts'
import { partsOf } from './ids.ts'
import type { ChatMessage, InputItem } from './wire.ts'

/** A client's answer to one question. */
export interface GivenAnswer {
  readonly threadId: string
  readonly questionId: string
  /** The function's output, or the decision on one of the actions. */
  readonly given:
    | { readonly text: string }
    | { readonly action: number; readonly approve: boolean; readonly reason: string | undefined }
}

/** The input of a request. */
export interface Input {
  /** In LangChain's flat form. The last one has an id, which locates the messages after it. */
  readonly messages: readonly WireMessage[]
  /**
   * The answers at the end of the input. If there are any, `messages` are only the ones that come with them.
   */
  readonly answers: readonly GivenAnswer[]
  /** The response that the last referenced item belongs to. The messages are the ones after it. */
  readonly base: { readonly threadId: string; readonly runId: string } | undefined
  /** The client's input of each turn, in order, for comparison with the thread's turns. */
  readonly turns: readonly Turn[]
}

/** What a client has sent between two messages of the assistant. */
export interface Turn {
  /** All of it, as JSON. */
  readonly full: string
  /** The user's messages alone. */
  readonly spoken: string
  /** The first of the user's messages. Several follow each other where an answer has failed. */
  readonly opening: string
  readonly hasOutput: boolean
  /** The position of its first message in `messages`. */
  readonly at: number
}

/** A chat's messages, which are its whole history. */
export function readChat(messages: readonly ChatMessage[]): Input {
  const reading = createReading()
  for (const message of messages) {
    const { role, content, name, tool_call_id: callId } = message
    if (role === 'tool' || role === 'function') addOutput(reading, callId ?? name ?? '', content)
    else addMessage(reading, role, content, callsOf(message))
  }
  return inputOf(reading)
}

/** The calls of a chat's message: of functions, of custom tools, and in the form before tools. */
function callsOf({ tool_calls: calls = [], function_call: only }: ChatMessage): readonly Call[] {
  const all = calls.flatMap(({ id, function: called, custom }) => {
    if (called) return [callOf(id, called.name, called.arguments)]
    return custom ? [callOf(id, custom.name, { input: custom.input })] : []
  })
  return only ? [...all, callOf(only.name, only.name, only.arguments)] : all
}

const callOf = (id: string | undefined, name: string, args: unknown): Call => ({
  id: id || name,
  function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) },
})

const ROLES = ['system', 'developer', 'user', 'assistant'] as const

/** A response's input. Items that no agent can use, such as searches of a provider, are left out. */
export function readItems(input: string | readonly (string | InputItem)[] = []): Input {
  const reading = createReading()
  const items = typeof input === 'string' ? [input] : input
  for (const given of items) {
    const item: InputItem = typeof given === 'string' ? { role: 'user', content: given } : given
    switch (item.type ?? 'message') {
      case 'message': {
        const { role: named = 'user', content } = item
        const role = ROLES.find((one) => one === named)
        if (role) addMessage(reading, role, content)
        else if (named === 'tool') addOutput(reading, item.tool_call_id ?? item.call_id ?? '', content)
        break
      }
      case 'function_call':
        addCall(reading, callOf(item.call_id, item.name ?? '', item.arguments))
        break
      case 'custom_tool_call':
        addCall(reading, callOf(item.call_id, item.name ?? '', { input: item.input }))
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        addOutput(reading, item.call_id ?? '', item.output)
        break
      case 'mcp_approval_response':
        addDecision(reading, item.approval_request_id ?? '', item.approve ?? false, item.reason)
        break
      case 'item_reference':
        addReference(reading, item.id ?? '')
        break
    }
  }
  return inputOf(reading)
}

/** A call in the form of chat completions. */
interface Call {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

interface Written {
  readonly role: string
  readonly content: string | readonly object[]
  readonly tool_calls?: Call[]
  readonly tool_call_id?: string
}

/** The thread and question of a call, if the call is one of this face's. */
const questionIn = (callId: string): readonly string[] | undefined => partsOf('call', callId)

/** What was read of a client's input so far. */
const createReading = () => ({
  written: [] as Written[],
  /** The number of written messages up to the assistant's last one, which counts. */
  answered: 0,
  answers: [] as GivenAnswer[],
  base: undefined as Input['base'],
  turns: [] as Turn[],
  isTurnOpen: false,
})

type Reading = ReturnType<typeof createReading>

const inputOf = ({ written, answers, base, turns }: Reading): Input => ({
  messages: written.map((one) => ({ ...toWireMessage(one)!, id: uuid7() })),
  answers,
  base,
  turns,
})

/** After an agent message, earlier answers are no longer new. */
function endTurn(reading: Reading): void {
  reading.answers = []
  reading.isTurnOpen = false
}

function addToTurn(reading: Reading, sent: unknown, isOutput: boolean): void {
  const { turns, isTurnOpen, answered } = reading
  const text = JSON.stringify(sent)
  const open = isTurnOpen ? turns.pop() : undefined
  const before = open ?? { full: '', spoken: '', opening: '', hasOutput: false, at: answered }
  turns.push({
    ...before,
    full: `${before.full}\n${text}`,
    spoken: isOutput ? before.spoken : `${before.spoken}\n${text}`,
    opening: before.opening || (isOutput ? '' : text),
    hasOutput: before.hasOutput || isOutput,
  })
  reading.isTurnOpen = true
}

function addMessage(
  reading: Reading,
  role: (typeof ROLES)[number],
  given: unknown,
  calls: readonly Call[] = [],
): void {
  const content = contentOf(given)
  if (role === 'assistant') {
    endTurn(reading)
    const own = calls.filter(({ id }) => !questionIn(id))
    if (own.length > 0 || content.length > 0) writeAnswer(reading, { role, content, tool_calls: own })
    return
  }
  // Clients change their instructions from turn to turn.
  if (role === 'user') addToTurn(reading, contentOf(withoutTemplate(given)), false)
  reading.written.push({ role, content })
}

function addCall(reading: Reading, call: Call): void {
  endTurn(reading)
  if (questionIn(call.id)) return
  const last = reading.written.at(-1)
  if (last?.role === 'assistant') last.tool_calls!.push(call)
  else writeAnswer(reading, { role: 'assistant', content: '', tool_calls: [call] })
}

function writeAnswer(reading: Reading, answer: Written & Required<Pick<Written, 'tool_calls'>>): void {
  reading.answered = reading.written.push(answer)
}

function clear(reading: Reading): void {
  reading.written = []
  reading.answered = 0
}

function addOutput(reading: Reading, callId: string, output: unknown): void {
  const given = outputOf(output)
  addToTurn(reading, [callId, given], true)
  const question = questionIn(callId)
  if (question) addAnswer(reading, question, { text: plainText(given) })
  else reading.written.push({ role: 'tool', content: contentOf(given), tool_call_id: callId })
}

function addDecision(
  reading: Reading,
  requestId: string,
  approve: boolean,
  reason: string | undefined,
): void {
  const request = partsOf('mcpr', requestId)
  if (!request) throw badRequest('input: approval_request_id is none of this server.')
  addAnswer(reading, request, { action: Number(request[2]), approve, reason })
}

function addAnswer(reading: Reading, of: readonly string[], given: GivenAnswer['given']): void {
  // The question's thread already has everything before it.
  if (reading.answers.length === 0) clear(reading)
  reading.answers.push({ threadId: of[0]!, questionId: of[1]!, given })
}

function addReference(reading: Reading, id: string): void {
  const [threadId, runId] =
    partsOf('msg', id) ?? partsOf('rs', id) ?? partsOf('fc', id) ?? partsOf('mcpr', id) ?? []
  if (threadId === undefined || runId === undefined)
    throw badRequest('input: item_reference names no item of this server.')
  endTurn(reading)
  // An approval request names its question, and its answer follows.
  if (!id.startsWith('mcpr_')) reading.base = { threadId, runId }
  clear(reading)
}
