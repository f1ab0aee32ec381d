import type { ContentBlock, MediaBlock, MediaType, Message } from '../../../../messages/index.ts'
import { isRecord } from '../../../../messages/record.ts'
import { collect, type Fields, fieldsOf, listOf, names, stringOf, toText } from '../../fields.ts'
import { toBase64 } from '../../reading/base64.ts'
import { readBlock, readCitation, toResult, vocabulary } from '../../reading/blocks.ts'

const FIELDS = {
  id: 'toolCallId',
  name: 'toolName',
  args: 'input',
  annotations: 'citations',
  mimeType: 'mediaType',
}
const VOCABULARY = vocabulary(
  { text: 'text', reasoning: 'reasoning', image: 'image', file: 'file', toolCall: 'tool-call' },
  FIELDS,
  { reasoning: 'redacted-reasoning' },
)
const SERVER_VOCABULARY = vocabulary({ serverToolCall: 'tool-call' }, FIELDS)

/** Reads a complete part of a message, a response or a stream. */
export function readPart(value: unknown): ContentBlock {
  const part = fieldsOf(value)
  switch (part.type) {
    case 'source':
      return { type: 'text', text: '', annotations: [readCitation(part)] }
    case 'file':
    case 'image':
    case 'reasoning-file':
      return readFile(part)
    case 'tool-result':
    case 'tool-error':
    case 'tool-output-denied':
      return readResult(part)
    case 'tool-call': {
      const { error, ...call } = part
      const about = error ? { error: asJson(error) } : undefined
      return readBlock(call, call.providerExecuted ? SERVER_VOCABULARY : VOCABULARY, false, about)
    }
    default:
      return readBlock(value, VOCABULARY)
  }
}

/** Makes errors, dates and URLs plain JSON. Other values stay as they are. */
export function asJson(value: unknown): unknown {
  if (value instanceof Error) {
    const { name, message, code, statusCode = code } = value as Error & Fields
    return { name, message, ...(statusCode ? { code: statusCode } : undefined) }
  }
  return value instanceof Date || value instanceof URL ? value.toJSON() : value
}

/** Reads a file, whose data is base64, bytes or a URL, or since V4 an object whose `type` names its field. */
function readFile(part: Fields): ContentBlock {
  const { type, file, data, image, ...about } = part
  const { base64, base64Data = base64, uint8Array = base64Data, ...generated } = fieldsOf(file)
  const given = fieldsOf(data)
  const { [stringOf(given.type)]: tagged = data } = given
  const raw = asJson(base64 ?? base64Data ?? uint8Array ?? image ?? tagged)
  const source = toBase64(raw instanceof ArrayBuffer ? new Uint8Array(raw) : raw)
  const { mediaType = generated.mediaType ?? about.mimeType, ...others } = about
  const plain = typeof source === 'string' && given.type !== 'text'
  const place = !plain ? 'data' : /^[a-z][\w+.-]*:/i.test(source) ? 'url' : 'base64'
  const kind = type === 'image' ? type : 'file'
  const block = readBlock(
    { ...others, mimeType: mediaType, [place]: plain ? source : (data ?? file), type: kind },
    VOCABULARY,
  ) as MediaBlock
  const known = /^(image|audio|video)\//.exec(block.mimeType ?? '')?.[1] ?? kind
  const extras = type === 'reasoning-file' && { extras: { type, ...block.extras } }
  return { ...block, type: known as MediaType, ...extras }
}

const RESULT = names('type toolCallId input args output result error isError')

function readResult(part: Fields): ContentBlock {
  const { type, toolCallId, output = part.result, error, isError } = part
  const failed = type !== 'tool-result' || isError
  const said = asJson(type === 'tool-error' ? error : output)
  const extras = collect(type === 'tool-output-denied' ? { type } : undefined, part, RESULT)
  return toResult(toolCallId, failed, said, extras)
}

const TOOL = names('type toolCallId toolName output result isError')
const OUTPUT = names('value reason')
/** The field that holds the data, for each type of part in the content of a result. */
const OUTPUTS: Readonly<Record<string, string>> = {
  'file-data': 'data',
  'image-data': 'data',
  media: 'data',
  'file-url': 'url',
  'image-url': 'url',
}

/** Reads a part of a tool message. A result becomes a message of its own. */
export function readInputPart(value: unknown): ContentBlock | Message {
  const part = fieldsOf(value)
  if (part.type !== 'tool-result') return readPart(value)
  const { toolCallId, toolName, output, result, isError } = part
  const about = isRecord(output) ? output : { value: output ?? result }
  const { type, value: said = about.reason } = about as Fields
  const outputType = stringOf(type)
  const plain = said === undefined ? [] : [{ type: 'text' as const, text: toText(said) }]
  const marked = /json|denied/.test(outputType) ? about : { ...about, type: undefined }
  const extras = collect(collect(undefined, marked, OUTPUT), part, TOOL)
  return collect(
    { role: 'tool', content: outputType === 'content' ? listOf(said).map(readOutput) : plain },
    {
      name: toText(toolName),
      toolCallId: toText(toolCallId),
      status: isError || /^(error|execution)/.test(outputType) ? 'error' : 'success',
      extras,
    },
  ) as unknown as Message
}

function readOutput(value: unknown): ContentBlock {
  const part = fieldsOf(value)
  const type = stringOf(part.type)
  const field = Object.hasOwn(OUTPUTS, type) && OUTPUTS[type]
  if (!field) return readPart(value)
  const { [field]: data, ...others } = part
  return readFile({ ...others, type: type.startsWith('image') ? 'image' : 'file', data })
}
