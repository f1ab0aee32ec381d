import { dropUndefined } from '../writing/fields.ts'
import { type Ask, type ModelAnswer, toolsOf } from './model.ts'

/** The part of `new OpenAI()` that is called. A server of the same shape has the same client. */
export interface ChatClient {
  readonly chat: {
    readonly completions: {
      create(body: never, options?: { readonly signal?: AbortSignal }): PromiseLike<unknown>
    }
  }
}

/** The part of `new OpenAI()` that is called for the Responses API. */
export interface ResponsesClient {
  readonly responses: {
    create(body: never, options?: { readonly signal?: AbortSignal }): PromiseLike<unknown>
  }
}

export const askCompletions: Ask<ChatClient> = (client, written, { model, settings, signal, ...input }) => {
  const tools = toolsOf(input, (tool) => ({ type: 'function', function: dropUndefined({ ...tool }) }))
  const body = {
    model,
    ...written,
    tools,
    stream: true,
    stream_options: { include_usage: true },
    ...settings,
  }
  return client.chat.completions.create(dropUndefined(body) as never, dropUndefined({ signal })) as Answer
}

export const askResponses: Ask<ResponsesClient> = (
  client,
  written,
  { model, settings, signal, ...input },
) => {
  const tools = toolsOf(input, (tool) => ({ type: 'function', ...dropUndefined({ ...tool }), strict: false }))
  const body = { model, ...written, tools, stream: true, ...settings }
  return client.responses.create(dropUndefined(body) as never, dropUndefined({ signal })) as Answer
}

type Answer = PromiseLike<ModelAnswer>
