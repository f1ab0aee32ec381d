import { AgentwireError } from '../core/errors.ts'
import { type ContentBlock, type Message, type MessageEvent, textOf } from '../messages/index.ts'
import type { Model, ModelInput } from '../models/formats/calls/model.ts'
import type { Format } from '../models/formats/format.ts'

/** An answer of a scripted model: a text, a text and tool calls, or an error with which the call fails. */
export type ScriptedReply =
  | string
  | {
      readonly text?: string
      readonly calls?: readonly {
        readonly name: string
        readonly args?: Readonly<Record<string, unknown>>
        readonly id?: string
      }[]
    }
  | Error

/** A model that answers from a script. */
export interface ScriptedModel extends Model {
  /** What it was asked so far, in order. */
  readonly inputs: readonly ModelInput[]
}

/**
 * A model for tests, without a provider: its answers are those of a list, in order, or of a function of what it is
 * asked. Texts are streamed word by word. A call after the end of the list fails with `script_ended`.
 *
 * ```ts
 * const model = scriptedModel([{ calls: [{ name: 'refund', args: { order: 17 } }] }, 'Order 17 is refunded.'])
 * ```
 */
export function scriptedModel(
  script:
    | readonly ScriptedReply[]
    | ((input: ModelInput, index: number) => ScriptedReply | Promise<ScriptedReply>),
): ScriptedModel {
  const inputs: ModelInput[] = []
  return {
    inputs,
    format,
    async stream(input) {
      const index = inputs.push({ ...input, messages: [...input.messages] }) - 1
      const reply = typeof script === 'function' ? await script(input, index) : script[index]
      if (reply === undefined) throw ended(index, input)
      if (reply instanceof Error) throw reply
      return eventsOf(index, typeof reply === 'string' ? { text: reply } : reply)
    },
  }
}

function ended(index: number, { messages }: ModelInput): AgentwireError {
  const last = messages.at(-1)
  const said = last ? `: the ${last.role} message ${JSON.stringify(textOf(last))}` : ' with no messages'
  return new AgentwireError(
    'script_ended',
    `The script of the model has ${index === 1 ? 'one reply' : `${index} replies`}, and it was asked once more${said}.`,
  )
}

/** The answer as the events of a message. */
async function* eventsOf(
  index: number,
  { text = '', calls = [] }: Exclude<ScriptedReply, string | Error>,
): AsyncGenerator<MessageEvent> {
  yield { type: 'messageStart', role: 'assistant' }
  let place = 0
  if (text !== '') {
    yield { type: 'blockStart', index: place, block: { type: 'text', text: '' } }
    for (const word of text.split(/(?<=\S)(?=\s+\S)/))
      yield { type: 'blockDelta', index: place, delta: { type: 'text', text: word } }
    yield { type: 'blockFinish', index: place++ }
  }
  for (const [at, { name, args = {}, id = `call_${index}_${at}` }] of calls.entries()) {
    const block: ContentBlock = { type: 'toolCall', id, name, args }
    yield { type: 'blockStart', index: place, block }
    yield { type: 'blockFinish', index: place++, block }
  }
  yield { type: 'messageFinish', reason: calls.length > 0 ? 'toolCalls' : 'stop' }
}

/** Its chunks are the events themselves. */
const format: Format = {
  name: 'scripted',
  detect: () => undefined,
  readRequest: () => ({ messages: [], params: {}, extras: {} }),
  readResponse: () => ({ messages: [] }),
  readStream: () => ({ push: (event) => [event as MessageEvent], end: () => [] }),
}

/** A tool call of a thread, with what came of it. */
export interface ReadCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  /** What the model read. Undefined if the call has no result yet. */
  readonly result: string | undefined
  readonly status: 'success' | 'error' | undefined
}

/** The tool calls of messages, in order, such as those of `engine.run`. */
export function toolCallsOf(messages: readonly Message[]): readonly ReadCall[] {
  const results = new Map(messages.map((message) => [message.toolCallId, message]))
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => {
      if (block.type !== 'toolCall') return []
      const { id, name, args } = block
      const found = id === undefined ? undefined : results.get(id)
      return { name, args, result: found && textOf(found), status: found && (found.status ?? 'success') }
    }),
  )
}

/** A question of a run, as `engine.run` gives it in `interrupts`. */
export interface Question {
  readonly id: string
  readonly value: unknown
}

/** The answers that approve every tool call that is asked about: `engine.run({ threadId, answers: approve(interrupts) })`. */
export const approve = (interrupts: readonly Question[]): Readonly<Record<string, unknown>> =>
  decide(interrupts, { type: 'approve' })

/** The answers that reject every tool call that is asked about, with a message that the model reads. */
export const reject = (
  interrupts: readonly Question[],
  message?: string,
): Readonly<Record<string, unknown>> =>
  decide(interrupts, { type: 'reject', ...(message !== undefined && { message }) })

function decide(interrupts: readonly Question[], decision: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    interrupts.map(({ id, value }) => {
      const { actionRequests } = Object(value) as { readonly actionRequests?: readonly unknown[] }
      if (!Array.isArray(actionRequests))
        throw new TypeError(
          `The interrupt ${id} does not ask to approve tool calls. Answer it with { [id]: answer }.`,
        )
      return [id, { decisions: actionRequests.map(() => decision) }]
    }),
  )
}
