import { EventSourceParserStream } from 'eventsource-parser/stream'
import { anthropic, type Model, openai } from '../../models/formats/models.ts'
import { UsageError } from '../terminal.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** A provider's model, and its name for the terminal. */
interface Provided {
  readonly label: string
  readonly model: Model
}

/**
 * The model of the first provider whose key is in the environment. The packages of the providers are not needed:
 * a model wants no more of a client than one request that streams.
 */
export function providerOf(env: Environment): Provided | undefined {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY } = env
  if (OPENAI_API_KEY) {
    const name = env.OPENAI_MODEL || 'gpt-5-mini'
    const create = requests(baseOf(env.OPENAI_BASE_URL, 'https://api.openai.com/v1'), '/chat/completions', {
      authorization: `Bearer ${OPENAI_API_KEY}`,
    })
    return { label: `OpenAI’s ${name}`, model: openai(name, { chat: { completions: { create } } }) }
  }
  if (ANTHROPIC_API_KEY) {
    const name = env.ANTHROPIC_MODEL || 'claude-sonnet-4-5'
    const create = requests(baseOf(env.ANTHROPIC_BASE_URL, 'https://api.anthropic.com'), '/v1/messages', {
      'x-api-key': ANTHROPIC_API_KEY,
      'anthropic-version': '2023-06-01',
    })
    return { label: `Anthropic’s ${name}`, model: anthropic(name, { messages: { create } }) }
  }
  return undefined
}

function baseOf(given: string | undefined, otherwise: string): string {
  const base = given || otherwise
  if (URL.canParse(base)) return base.replace(/\/$/, '')
  throw new UsageError(`The base URL of the provider must be a URL, not “${base}”.`)
}

const requests =
  (base: string, path: string, headers: Readonly<Record<string, string>>) =>
  async (
    body: never,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<AsyncIterable<unknown>> => {
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: signal ?? null,
    })
    if (!response.ok)
      throw new Error(`The provider answered with status ${response.status}: ${await response.text()}`)
    return chunksOf(response)
  }

async function* chunksOf({ body }: Response): AsyncGenerator<unknown> {
  const events = body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { data } of events) if (data !== '[DONE]') yield JSON.parse(data)
}
