import { dropUndefined } from '../writing/fields.ts'
import { type Ask, type ModelAnswer, toolsOf } from './model.ts'

/** The part of `new GoogleGenAI()` that is called. */
export interface GeminiClient {
  readonly models: { generateContentStream(request: never): PromiseLike<unknown> }
}

/** `settings` are fields of `config`, where Google's SDK has all but the contents. */
export const askGemini: Ask<GeminiClient> = (client, written, { model, settings, signal, ...input }) => {
  const { contents, systemInstruction } = written
  const declared = toolsOf(input, ({ name, description, parameters }) =>
    dropUndefined({ name, description, parametersJsonSchema: parameters }),
  )
  const tools = declared && [{ functionDeclarations: declared }]
  const config = dropUndefined({ systemInstruction, tools, abortSignal: signal, ...settings })
  const request = { model, contents, config }
  return client.models.generateContentStream(request as never) as PromiseLike<ModelAnswer>
}
