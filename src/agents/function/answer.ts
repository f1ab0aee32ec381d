import type { Message } from '../../messages/index.ts'
import { isRecord } from '../../messages/record.ts'
import { AgentInputError } from '../errors.ts'
import type { Scope } from './scope.ts'
import type { AgentReturn, AnswerStream, MessageWriter, StateChange, Writer } from './types.ts'

/**
 * Writes what a function returned: a text, a message, or a generator of both. Returns what else it returned, which
 * is a change of the state.
 */
export async function writeAnswer(
  scope: Scope,
  context: Writer,
  returned: AgentReturn | AnswerStream,
): Promise<StateChange | undefined> {
  const answer = isStream(returned) ? await writeAll(scope, context, returned) : returned
  if (typeof answer === 'string') await context.message(answer)
  else if (isMessage(answer)) await writeMessage(context, answer)
  else if (isRecord(answer) || Array.isArray(answer)) return answer as StateChange
  else if (answer != null) throw new AgentInputError(`run returned a ${typeof answer}. ${ANSWERS}`)
  return undefined
}

const ANSWERS = 'Answer with a text, a message, or a change of the state.'

const isStream = (value: unknown): value is AnswerStream =>
  typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || isGenerator(value))

const isGenerator = (value: object): boolean => Object.prototype.toString.call(value) === '[object Generator]'

/** A message of the assistant. An object with a role but no content may be a state. */
const isMessage = (value: unknown): value is Message =>
  isRecord(value) && value.role === 'assistant' && Array.isArray(value.content)

/** Writes what a generator yields, and gives what it returns. */
async function writeAll(scope: Scope, context: Writer, stream: AnswerStream): Promise<AgentReturn> {
  const pieces = Symbol.asyncIterator in stream ? stream[Symbol.asyncIterator]() : stream
  let text: MessageWriter | undefined
  const endText = () => {
    scope.endText = undefined
    const ended = text?.end()
    text = undefined
    return ended
  }
  try {
    for (;;) {
      const { done, value } = await pieces.next()
      if (done || typeof value !== 'string') await endText()
      if (done) return value as AgentReturn
      if (typeof value === 'string') {
        text ??= context.message()
        scope.endText = endText
        await text.text(value)
      } else if (isMessage(value)) await writeMessage(context, value)
      else throw new AgentInputError(`run yielded a ${typeof value}. Yield pieces of a text, or messages.`)
    }
  } catch (error) {
    void Promise.resolve(pieces.return?.(undefined)).catch(() => {}) // The first error is the one to tell.
    throw error
  }
}

/** Adds a message, unless it is there already, as the result of `message` or `model` is. */
async function writeMessage(context: Writer, { id, name, content }: Message): Promise<void> {
  if (id !== undefined && context.messages.some((message) => message.id === id)) return
  const message = context.message({ ...(id !== undefined && { id }), ...(name !== undefined && { name }) })
  for (const block of content) await message.block(block)
  await message.end()
}
