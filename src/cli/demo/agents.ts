import { type ScriptedReply, scriptedModel } from '../../agents/testing.ts'
import { sleep } from '../../core/time.ts'
import { type Agent, defineAgent, tool } from '../../index.ts'
import { textOf } from '../../messages/index.ts'
import type { Model, ModelInput } from '../../models/formats/models.ts'
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

/** The delay before each word, in milliseconds: about 45 words a second. */
const DELAY_MS = 22

/** A model without a provider or a network. It streams as a provider does. */
export function offlineModel(): Model {
  const model = scriptedModel(reply)
  return {
    ...model,
    async stream(input) {
      return paced((await model.stream(input)) as AsyncIterable<unknown>, input.signal)
    },
  }
}

async function* paced(chunks: AsyncIterable<unknown>, signal: AbortSignal | undefined) {
  for await (const chunk of chunks) {
    await sleep(DELAY_MS, signal)
    yield chunk
  }
}

const GREETING =
  'I am a scripted model: I need no key and no network. Ask me for **the weather**, a **mail**, a **long story** or **Markdown**.'

function reply({ messages }: ModelInput): ScriptedReply {
  const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1)
  if (results.length > 0) return results.map(textOf).join(' ')
  const said = textOf(messages.findLast(({ role }) => role === 'user') ?? { content: [] })
  if (/\bweather\b/i.test(said)) return weatherReport(said)
  if (/\b(?:e-?mail|mail)\b/i.test(said)) return mails(said)
  if (/\bstory\b/i.test(said)) return LONG_STORY
  if (/\bmarkdown\b/i.test(said)) return MARKDOWN
  return GREETING
}

/** The names in a message, such as Oslo and Lima. Its first word begins with a capital letter, too. */
const namesIn = (said: string, otherwise: string): readonly string[] => {
  const [, ...words] = said.match(/\p{L}+/gu) ?? []
  const found = words.filter((word) => /^\p{Lu}\p{L}/u.test(word))
  return found.length > 0 ? [...new Set(found)] : [otherwise]
}

function weatherReport(said: string): ScriptedReply {
  const cities = namesIn(said, 'Oslo')
  return {
    text: `I look up ${cities.join(' and ')}.`,
    calls: cities.map((city) => ({ name: 'weather', args: { city } })),
  }
}

const ENDS = new Set('.?!')

/** A sentence without the marks at its end. */
function withoutEnd(said: string): string {
  let length = said.length
  while (ENDS.has(said[length - 1] ?? '')) length--
  return said.slice(0, length)
}

function mails(said: string): ScriptedReply {
  const people = namesIn(said, 'Ada')
  const at = said.toLowerCase().indexOf('about ')
  const about = at === -1 ? 'our project' : withoutEnd(said.slice(at + 'about '.length))
  return {
    text: 'I ask you before I send anything.',
    calls: people.map((name) => ({
      name: 'send_mail',
      args: {
        to: `${name.toLowerCase()}@example.com`,
        subject: about,
        body: `Dear ${name}, let us talk about ${about}.`,
      },
    })),
  }
}

/** Enough for a reload in the middle: about ten seconds. */
const LONG_STORY = `## The lighthouse

${[
  'A keeper lived in a lighthouse at the end of a long pier. Each evening she lit the lamp, and each morning she wrote down the ships that had passed.',
  'One night a storm took the pier. The lamp burned on, but nobody could bring oil any more, and nobody could fetch the book.',
  'So she wrote more slowly. She left out the weather, then the names of the captains, and then all but the number of masts.',
  'On the ninth day a boat came from the town. They had counted the nights on which the light was there, and wanted to know what had kept it burning.',
  'She showed them the book. It had nine lines, and each of them was shorter than the one before. The last one was a single stroke.',
  'They built the pier again, of stone this time. The keeper stayed for another thirty years, and wrote down every ship with its name, its captain and the weather.',
  'When she was old, a child asked her which of all those pages was the best. She opened the book at the ninth day, and showed the stroke.',
  'It says that somebody was there, she said. Everything else can be written later. And she went up to light the lamp, because it was evening.',
].join('\n\n')}`

const MARKDOWN = `## Markdown

Text can be **bold**, *italic*, ~~struck~~ or \`code\`, with [links](https://example.com).

1. First
2. Second
   - with a list of its own

| Protocol | Path |
|---|---|
| Agent Streaming Protocol | \`/threads\` |
| OpenAI | \`/v1\` |

> A quotation.

\`\`\`ts
const agent = defineAgent({ model, tools: { weather } })
\`\`\``
