import { fieldsOf } from '../../fields.ts'
import { bytesOf, decodeBase64, toBase64 } from '../../reading/base64.ts'
import { defineFormat } from '../../reading/define.ts'
import { anthropicMessages, openMessages } from '../anthropic-messages.ts'
import { addException, exceptionOf } from './converse.ts'

/**
 * AWS Bedrock: `InvokeModel` and `InvokeModelWithResponseStream` with Anthropic's models. Bodies and chunks
 * are the bytes of JSON in the shape of Anthropic Messages.
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

/** Parses a JSON object from bytes, base64 or text. */
function decode(body: unknown): object | undefined {
  try {
    const json = typeof body === 'string' && body.trimStart().startsWith('{')
    const bytes = ArrayBuffer.isView(body) ? bytesOf(body) : json ? undefined : decodeBase64(body as string)
    const value: unknown = JSON.parse(bytes ? new TextDecoder().decode(bytes) : (body as string))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
