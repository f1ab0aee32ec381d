import { defineAgent } from 'agentwire'

/** What snippets serve that are about something else. */
export const agents = {
  agent: defineAgent({
    async run({ message }) {
      const answer = message()
      for (const word of ['Hello', ' there']) await answer.text(word)
    },
  }),
}
