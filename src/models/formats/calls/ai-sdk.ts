import { dropUndefined, type Fields, fieldsOf, listOf, stringOf } from '../fields.ts'
import type { Format } from '../format.ts'
import type { WriteRequest } from '../requests/write.ts'
import { type Model, type ModelSettings, toolsOf, withInstructions } from './model.ts'

/** The part of a language model of the AI SDK that is called, such as `openai('gpt-5-mini')` of `@ai-sdk/openai`. */
export interface AiSdkModel {
  /** `v3` or `v4`: those of AI SDK 6 and 7. */
  readonly specificationVersion: string
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>
}

/** How often a call is made again that the provider has no room for, as the AI SDK does. */
const RETRIES = 2
const FIRST_DELAY_MS = 2_000

export const askAiSdk = (
  format: Format,
  write: WriteRequest,
  model: AiSdkModel,
  settings: ModelSettings,
): Model => ({
  format,
  async stream(input) {
    const { messages } = write(withInstructions(input)) as { readonly messages: readonly Fields[] }
    const tools = toolsOf(input, ({ name, description, parameters }) =>
      dropUndefined({ type: 'function', name, description, inputSchema: parameters }),
    )
    const prompt = messages.map((message) => promptOf(message, model.specificationVersion === 'v4'))
    const options = dropUndefined({ prompt, tools, abortSignal: input.signal, ...settings })
    for (let retry = 0; ; retry++)
      try {
        return (await model.doStream(options as never)).stream
      } catch (error) {
        if (retry === RETRIES || fieldsOf(error).isRetryable !== true) throw error
        await pause(FIRST_DELAY_MS * 2 ** retry, input.signal)
      }
  },
})

/** A model gets messages as `streamText` would write them: files have their data in another form. */
const promptOf = (message: Fields, tagged: boolean): Fields =>
  Array.isArray(message.content)
    ? { ...message, content: message.content.map((part) => partOf(fieldsOf(part), tagged)) }
    : message

function partOf(part: Fields, tagged: boolean): Fields {
  const { type, output } = part
  if (type === 'file') return { ...part, data: dataOf(stringOf(part.data), tagged) }
  const { type: kind, value } = fieldsOf(output)
  if (type !== 'tool-result' || kind !== 'content' || !tagged) return part
  return { ...part, output: { type: kind, value: listOf(value).map((item) => outputOf(fieldsOf(item))) } }
}

function dataOf(data: string, tagged: boolean): unknown {
  const url = /^(https?|gs|s3):/.test(data) ? new URL(data) : undefined
  if (!tagged) return url ?? data
  return url ? { type: 'url', url } : { type: 'data', data }
}

/** A file in a result, which has one form since version 4. */
function outputOf(part: Fields): Fields {
  const { type, url, data, mediaType = 'image', filename } = part
  if (type === 'text') return part
  return dropUndefined({ type: 'file', data: dataOf(stringOf(url ?? data), true), mediaType, filename })
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })
