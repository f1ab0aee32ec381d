import { createAgentServer, defineAgent } from 'agentwire'
import { serve } from 'agentwire/node'

const weather = defineAgent({
  name: 'weather',
  description: 'Knows the weather.',
  async run({ messages, message }) {
    const place = /in (\w+)/.exec(JSON.stringify(messages.at(-1)?.content))?.[1]
    const answer = message()
    for (const word of ['Sunny', ' in', ` ${place}.`]) await answer.text(word)
  },
})

/**
 * The other server. In production it belongs to someone else and may use any language: you only know its
 * address.
 */
export const startRemote = () => serve(createAgentServer({ agents: { weather } }), { port: 0, silent: true })
