import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { ScriptedModel } from './scripted-model.ts'
import { compute, coordinate, correspond, research } from './scripts.ts'

/** One model for each role. A provider plays all of them with one model. */
export interface Models {
  /** What to tell the person who starts the demo. */
  readonly label: string
  readonly coordinator: BaseChatModel
  readonly researcher: BaseChatModel
  readonly mathWhiz: BaseChatModel
  readonly secretary: BaseChatModel
}

/** Scripted models, which need no network. `delayMs` is the pause before each token. */
export function scriptedModels(delayMs?: number): Models {
  const model = (script: typeof coordinate) =>
    new ScriptedModel({ script, ...(delayMs !== undefined && { delayMs }) })
  return {
    label: 'a scripted model (offline)',
    coordinator: model(coordinate),
    researcher: model(research),
    mathWhiz: model(compute),
    secretary: model(correspond),
  }
}

/** A provider's model when its key is set (OPENAI_MODEL and ANTHROPIC_MODEL choose which), else the scripted ones. */
export async function chooseModels(env: Readonly<Record<string, string | undefined>>): Promise<Models> {
  if (env.OPENAI_API_KEY) {
    const { ChatOpenAI } = await import('@langchain/openai')
    const name = env.OPENAI_MODEL ?? 'gpt-5-mini'
    return oneForAll(`OpenAI's ${name}`, new ChatOpenAI({ model: name, apiKey: env.OPENAI_API_KEY }))
  }
  if (env.ANTHROPIC_API_KEY) {
    const { ChatAnthropic } = await import('@langchain/anthropic')
    const name = env.ANTHROPIC_MODEL ?? 'claude-sonnet-4-5'
    return oneForAll(`Anthropic's ${name}`, new ChatAnthropic({ model: name, apiKey: env.ANTHROPIC_API_KEY }))
  }
  return scriptedModels()
}

function oneForAll(label: string, model: BaseChatModel): Models {
  return { label, coordinator: model, researcher: model, mathWhiz: model, secretary: model }
}
