import { uuid7 } from '../ids.ts'
import { toWireMessage, type WireMessage } from '../messages/index.ts'
import { contentOf, plainText } from './content.ts'
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
  /** The user input of each turn, in order, for comparison with the thread's turns. */
  readonly turns: readonly string[]
}

/** A chat's messages, which are its whole history. */
export function readChat(messages: readonly ChatMessage[]): Input {
  const reading = createReading()
  for (const { role, content, name, tool_calls: calls = [], tool_call_id: callId } of messages) {
    if (role === 'tool' || role === 'function') reading.output(callId ?? name ?? '', content)
    else reading.message(role, content, calls)
  }
  return reading.input()
}

/** A response's input. Throws 400 for unknown items. */
export function readItems(input: string | readonly InputItem[] = []): Input {
  const reading = createReading()
  const items: readonly InputItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  for (const item of items) {
    switch (item.type ?? 'message') {
      case 'message':
        if (!item.role) throw badRequest('input: a message has a role.')
        reading.message(item.role, item.content, [])
        break
      case 'function_call': {
        const { call_id: id = '', name = '', arguments: args } = item
        reading.call({ id, function: { name, arguments: args } })
        break
      }
      case 'function_call_output':
        reading.output(item.call_id ?? '', item.output)
        break
      case 'mcp_approval_response':
        reading.decision(item.approval_request_id ?? '', item.approve ?? false, item.reason)
        break
      case 'item_reference':
        reading.reference(item.id ?? '')
        break
      case 'reasoning':
      case 'mcp_approval_request':
        break
      default:
        throw badRequest(
          `input: items of the type ${JSON.stringify(String(item.type).slice(0, 100))} are not known.`,
        )
    }
  }
  return reading.input()
}

type Call = NonNullable<ChatMessage['tool_calls']>[number]
type Content = ChatMessage['content']

interface Written {
  readonly role: string
  readonly content: string | readonly object[]
  readonly tool_calls?: readonly Call[]
  readonly tool_call_id?: string
}

/** The thread and question of a call, if the call is one of this face's. */
const questionIn = (callId: string): readonly string[] | undefined => partsOf('call', callId)

function createReading() {
  let written: Written[] = []
  let answers: GivenAnswer[] = []
  let base: Input['base']
  const turns: string[] = []
  let isTurnOpen = false

  /** After an agent message, earlier answers are no longer new. */
  function spoken(): void {
    answers = []
    isTurnOpen = false
  }

  function brought(what: unknown): void {
    const text = JSON.stringify(what)
    if (isTurnOpen) turns.push(`${turns.pop()}\n${text}`)
    else turns.push(text)
    isTurnOpen = true
  }

  function answer(of: readonly string[], given: GivenAnswer['given']): void {
    // The question's thread already has everything before it.
    if (answers.length === 0) written = []
    answers.push({ threadId: of[0]!, questionId: of[1]!, given })
  }

  return {
    message(role: Exclude<ChatMessage['role'], 'tool' | 'function'>, given: Content, calls: readonly Call[]) {
      const content = contentOf(given)
      if (role === 'assistant') {
        spoken()
        const own = calls.filter(({ id }) => !questionIn(id))
        if (own.length > 0 || content.length > 0) written.push({ role, content, tool_calls: own })
        return
      }
      written.push({ role, content })
      // Clients change their instructions from turn to turn.
      if (role === 'user') brought(given)
    },
    call(call: Call) {
      spoken()
      if (questionIn(call.id)) return
      const last = written.at(-1)
      if (last?.role !== 'assistant') written.push({ role: 'assistant', content: '', tool_calls: [call] })
      else written[written.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] }
    },
    output(callId: string, given: Content) {
      brought([callId, given])
      const question = questionIn(callId)
      if (question) answer(question, { text: plainText(given) })
      else written.push({ role: 'tool', content: contentOf(given), tool_call_id: callId })
    },
    decision(requestId: string, approve: boolean, reason: string | undefined) {
      const request = partsOf('mcpr', requestId)
      if (!request) throw badRequest('input: approval_request_id is none of this server.')
      answer(request, { action: Number(request[2]), approve, reason })
    },
    reference(id: string) {
      const [threadId, runId] =
        partsOf('msg', id) ?? partsOf('rs', id) ?? partsOf('fc', id) ?? partsOf('mcpr', id) ?? []
      if (threadId === undefined || runId === undefined)
        throw badRequest('input: item_reference names no item of this server.')
      spoken()
      // An approval request names its question, and its answer follows.
      if (!id.startsWith('mcpr_')) base = { threadId, runId }
      written = []
    },
    input(): Input {
      const messages = written.map((one) => ({ ...toWireMessage(one)!, id: uuid7() }))
      return { messages, answers, base, turns }
    },
  }
}
