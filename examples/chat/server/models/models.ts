import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { chooseProvider, type Environment } from './providers.ts'
import { type Script, ScriptedModel } from './scripted-model.ts'
import { compute, coordinate, correspond, entitle, research } from './scripts.ts'
import { withThinkingTime } from './thinking-time.ts'

/** One model for each role. With a provider, one model has all roles. */
export interface Models {
  readonly coordinator: BaseChatModel
  readonly researcher: BaseChatModel
  readonly mathWhiz: BaseChatModel
  readonly secretary: BaseChatModel
  /** Names conversations. */
  readonly titler: BaseChatModel
}

/** Scripted models, which need no network. `delayMs` is the delay before each token. */
export function scriptedModels(delayMs?: number): Models {
  const model = (script: Script) =>
    withThinkingTime(new ScriptedModel({ script, ...(delayMs !== undefined && { delayMs }) }))
  return {
    coordinator: model(coordinate),
    researcher: model(research),
    mathWhiz: model(compute),
    secretary: model(correspond),
    titler: model(entitle),
  }
}

/**
 * A provider's model if the environment has its key, otherwise scripted models, which write SPEED tokens per
 * second.
 */
export async function chooseModels(env: Environment): Promise<Models> {
  const opened = await chooseProvider(env)?.open()
  const model = opened && withThinkingTime(opened)
  return model
    ? { coordinator: model, researcher: model, mathWhiz: model, secretary: model, titler: model }
    : scriptedModels(env.SPEED ? 1000 / Number(env.SPEED) : undefined)
}
