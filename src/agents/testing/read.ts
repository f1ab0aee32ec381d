import { type Message, textOf } from '../../messages/index.ts'

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
