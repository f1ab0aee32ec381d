import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

export type Environment = Readonly<Record<string, string | undefined>>

interface Provider {
  readonly keys: readonly string[]
  readonly company: string
  /** The environment variable that selects another model. */
  readonly variable: string
  readonly model: string
  open(model: string, apiKey: string): Promise<BaseChatModel>
}

/** A provider's package is loaded when the provider is chosen. */
const PROVIDERS: readonly Provider[] = [
  {
    keys: ['OPENAI_API_KEY'],
    company: 'OpenAI',
    variable: 'OPENAI_MODEL',
    model: 'gpt-5-mini',
    open: async (model, apiKey) => new (await import('@langchain/openai')).ChatOpenAI({ model, apiKey }),
  },
  {
    keys: ['ANTHROPIC_API_KEY'],
    company: 'Anthropic',
    variable: 'ANTHROPIC_MODEL',
    model: 'claude-sonnet-4-5',
    open: async (model, apiKey) =>
      new (await import('@langchain/anthropic')).ChatAnthropic({ model, apiKey }),
  },
  {
    keys: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    company: 'Google',
    variable: 'GOOGLE_MODEL',
    model: 'gemini-2.5-flash',
    open: async (model, apiKey) =>
      new (await import('@langchain/google-genai')).ChatGoogleGenerativeAI({ model, apiKey }),
  },
]

export interface ChosenProvider {
  /** Such as “OpenAI's gpt-5-mini”. */
  readonly label: string
  open(): Promise<BaseChatModel>
}

/** The first provider whose key is in the environment. */
export function chooseProvider(env: Environment): ChosenProvider | undefined {
  for (const { keys, company, variable, model, open } of PROVIDERS) {
    const apiKey = keys.map((key) => env[key]).find(Boolean)
    if (!apiKey) continue
    const name = env[variable] || model
    return { label: `${company}'s ${name}`, open: () => open(name, apiKey) }
  }
  return undefined
}
