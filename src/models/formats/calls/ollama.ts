import { dropUndefined } from '../writing/fields.ts'
import { type Ask, type ModelAnswer, toolsOf } from './model.ts'

/** The part of `new Ollama()` that is called. */
export interface OllamaClient {
  chat(request: never): PromiseLike<unknown>
}

export const askOllama: Ask<OllamaClient> = async (
  client,
  written,
  { model, settings, signal, ...input },
) => {
  const tools = toolsOf(input, (tool) => ({ type: 'function', function: dropUndefined({ ...tool }) }))
  const request = dropUndefined({ model, ...written, tools, stream: true, ...settings })
  const answer = (await client.chat(request as never)) as ModelAnswer & { abort?(): void }
  // Its client takes no signal.
  signal?.addEventListener('abort', () => answer.abort?.(), { once: true })
  if (signal?.aborted) answer.abort?.()
  return answer
}
