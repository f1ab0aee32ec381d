import type { Agent } from '../../agents/agent.ts'
import { defineAgent, tool } from '../../agents/function/define-agent.ts'
import { sleep } from '../../core/time.ts'
import { textOf } from '../../messages/index.ts'
import type { Model } from '../../models/formats/models.ts'
import type { DemoAgent } from './hints.ts'

/** The agents that the page offers: one with a model and tools, and one that is a function. */
export const demoAgents = (model: Model): Readonly<Record<DemoAgent['name'], Agent>> => ({
  assistant: defineAgent({
    name: 'assistant',
    description: 'Looks up the weather, and sends mails after you have approved them.',
    instructions:
      'You look up the weather and send mails. Nothing is really sent. Answer in a few sentences.',
    model,
    tools: { weather, send_mail: sendMail },
  }),
  echo,
})

const text = { type: 'string' } as const
const objectOf = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, text])),
  required: [...names],
})

const weather = tool({
  description: 'Looks up the weather in a city',
  input: objectOf('city'),
  run: ({ city }) => `It is ${8 + ((String(city).length * 7) % 19)} °C in ${city}.`,
})

const sendMail = tool({
  description: 'Sends a mail',
  input: objectOf('to', 'subject', 'body'),
  approve: true,
  run: ({ to }) => `The mail to ${to} is sent.`,
})

const echo = defineAgent({
  name: 'echo',
  description: 'Repeats what it hears, and asks on request.',
  async run({ messages, message, interrupt, signal }) {
    const last = messages.findLast(({ role }) => role === 'user')
    const heard = last ? textOf(last) : ''
    const said = /\bask me\b/i.test(heard)
      ? await interrupt<unknown>({ question: 'What shall I say?' })
      : heard
    const answer = message()
    for (const word of String(said).split(/(?<=\S)(?=\s)/)) {
      await sleep(22, signal)
      await answer.text(word)
    }
    await answer.end()
  },
})
