import { dropUndefined } from '../writing/fields.ts'
import { type Ask, type ModelAnswer, toolsOf } from './model.ts'

/** The part of `new Anthropic()` that is called. Those of Vertex and Bedrock have it, too. */
export interface AnthropicClient {
  readonly messages: {
    create(body: never, options?: { readonly signal?: AbortSignal }): PromiseLike<unknown>
  }
}

/** The API wants a limit, and this one is taken by every model. */
const MAX_TOKENS = 4096

export const askAnthropic: Ask<AnthropicClient> = (
  client,
  written,
  { model, settings, signal, ...input },
) => {
  const tools = toolsOf(input, ({ name, description, parameters }) =>
    dropUndefined({ name, description, input_schema: parameters }),
  )
  const body = { model, max_tokens: MAX_TOKENS, ...written, tools, stream: true, ...settings }
  return client.messages.create(
    dropUndefined(body) as never,
    dropUndefined({ signal }),
  ) as PromiseLike<ModelAnswer>
}
