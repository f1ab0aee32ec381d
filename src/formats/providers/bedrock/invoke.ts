import { bytesOf, toBase64 } from '../../reading/base64.ts'
import { defineFormat } from '../../reading/define.ts'
import { fieldsOf } from '../../reading/fields.ts'
import { anthropicMessages, openMessages } from '../anthropic-messages.ts'
import { addException, exceptionOf } from './exception.ts'

/**
 * AWS Bedrock: `InvokeModel` and `InvokeModelWithResponseStream` with models of Anthropic. Their bodies and chunks are bytes of
 * JSON, in the shape of Anthropic Messages.
 */
export const bedrockInvoke = defineFormat({
  name: 'bedrockInvoke',
  provider: 'amazon_bedrock',
  detect(value) {
    const fields = fieldsOf(value)
    if (fieldsOf(fields.chunk).bytes) return 'chunk'
    return fields.body === undefined ? undefined : anthropicMessages.detect(decode(fields.body))
  },
  readRequest(request) {
    const { body, ...others } = fieldsOf(request)
    return anthropicMessages.readRequest({ ...others, ...fieldsOf(decode(body)) })
  },
  unwrap: (value) => {
    const { chunk, body } = fieldsOf(value)
    return decode(body ?? fieldsOf(chunk).bytes) ?? toBase64(value)
  },
  shapeOf: (value) => anthropicMessages.detect(value),
  open(draft) {
    const read = openMessages(draft)
    return (event) => {
      const exception = exceptionOf(event)
      if (exception) addException(draft, exception, event)
      else read(event)
    }
  },
})

/** JSON from its bytes, from base64 of them or from its text; undefined where it is none. */
function decode(body: unknown): object | undefined {
  try {
    const bytes = ArrayBuffer.isView(body) ? bytesOf(body) : undefined
    const json = typeof body === 'string' && body.trimStart().startsWith('{')
    const binary = bytes ?? (json ? undefined : Uint8Array.from(atob(body as string), (c) => c.charCodeAt(0)))
    const value: unknown = JSON.parse(binary ? new TextDecoder().decode(binary) : (body as string))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
