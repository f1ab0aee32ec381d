import { setTimeout as pause } from 'node:timers/promises'
import { defineAgent } from 'agentwire'
import { textOf } from 'agentwire/messages'

/**
 * An agent without a model or a graph: a function that repeats the user's message, and asks a question on
 * request.
 */
export function echoAgent(delayMs = 22) {
  return defineAgent({
    name: 'echo',
    description: 'Repeats what it hears, word by word.',
    async run({ messages, message, interrupt, signal }) {
      const last = messages.findLast(({ role }) => role === 'user')
      const heard = last === undefined ? '' : textOf(last)
      const said = /\bask me\b/i.test(heard)
        ? await interrupt<string>({ question: 'What shall I say?' })
        : heard
      const answer = message()
      for (const word of (said || 'I heard nothing.').match(/\s*\S+/g) ?? []) {
        await pause(delayMs, undefined, { signal })
        await answer.text(word)
      }
      await answer.end()
    },
  })
}
