import type { ContentBlock, MediaBlock } from '../../../messages/index.ts'
import { dropUndefined, fieldsOf, toText } from '../fields.ts'
import { isPdf, mimeTypeOf } from './media.ts'
import { type PreparedMessage, prepareThread, type Rules } from './thread.ts'
import {
  isFilled,
  isGeminiSignature,
  joinTexts,
  mergeTurns,
  sdkOptionsOf,
  splitSystem,
  type WriteRequest,
} from './write.ts'

/** Google Gemini's `generateContent`: `systemInstruction` (in Google's SDK a field of `config`) and `contents`. */
export const writeGemini: WriteRequest = (messages) => {
  const { system, turns } = splitSystem(prepareThread(messages, RULES))
  const contents = mergeTurns<Part>(turns, writeTurn)
  signCalls(contents, turns)
  return dropUndefined({
    systemInstruction: system.length > 0 ? { parts: system.map(({ text }) => ({ text })) } : undefined,
    contents: contents.map(({ role, content }) => ({ role, parts: content })),
  })
}

type Part = Record<string, unknown>

interface Turn {
  readonly role: string
  readonly content: Part[]
}

const RULES: Rules = {
  names: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  takes(media, place) {
    const type = mediaTypeOf(media)
    const isKnown = /^image\/(png|jpeg|webp|heic|heif)$|^(audio|video)\//.test(type) || isPdf(media)
    const isSent = media.base64 !== undefined || /^(https|gs):/.test(media.url ?? '')
    return place === 'user' && isKnown && isSent
  },
  owns(block) {
    const { type: kind, outcome } = block.extras ?? {}
    switch (block.type) {
      case 'serverToolCall':
        return kind === 'toolCall' || (kind === 'executableCode' && isFilled(block.args.code))
      case 'serverToolResult':
        return kind === 'toolResponse' || (kind === 'codeExecutionResult' && isFilled(outcome))
      case 'nonStandard':
        return false
      default:
        return signatureOf(block) !== undefined
    }
  },
}

/** What Gemini asks back of its answers, as it gives it or as the AI SDK does. */
function signatureOf(block: ContentBlock): string | undefined {
  const sdk = { ...sdkOptionsOf(block, 'vertex'), ...sdkOptionsOf(block, 'google') }
  const thoughtSignature = block.extras?.thoughtSignature ?? sdk.thoughtSignature
  return isGeminiSignature(thoughtSignature) ? thoughtSignature : undefined
}

/**
 * Since the user spoke last, the first call of each answer needs a signature. Google documents one for calls
 * that another model made; models before Gemini 3 give none, and take none that is missing.
 */
function signCalls(contents: readonly Turn[], turns: readonly PreparedMessage[]): void {
  const own = turns.filter(({ metadata }) => /gemini-[12]/i.test(toText(metadata?.model)))
  const ids = new Set(own.flatMap(({ content }) => content.map(({ id }) => id)))
  const start = contents.findLastIndex(
    ({ role, content }) => role === 'user' && !content.some(({ functionResponse }) => functionResponse),
  )
  for (const { content } of contents.slice(start + 1)) {
    const call = content.find(({ functionCall }) => functionCall)
    if (call && !ids.has(fieldsOf(call.functionCall).id as string))
      call.thoughtSignature ??= 'skip_thought_signature_validator'
  }
}

function writeTurn(message: PreparedMessage): Turn {
  const { role, name, toolCallId: id, status, content } = message
  if (role !== 'tool')
    return {
      role: role === 'user' ? role : 'model',
      content: partsOf(content),
    }
  const response = { [status === 'error' ? 'error' : 'output']: joinTexts(message) }
  return { role: 'user', content: [{ functionResponse: { id, name, response } }] }
}

const partsOf = (content: readonly ContentBlock[]): Part[] =>
  content.map(writePart).filter((part) => part !== undefined)

function writePart(block: ContentBlock): Part | undefined {
  const { id, extras: { type: kind, outcome } = {} } = block
  const thoughtSignature = signatureOf(block)
  switch (block.type) {
    case 'text':
      return dropUndefined({ text: block.text, thoughtSignature })
    case 'reasoning':
      return dropUndefined({ text: block.text, thought: true, thoughtSignature })
    case 'toolCall':
      return dropUndefined({
        functionCall: dropUndefined({ id, name: block.name, args: block.args }),
        thoughtSignature,
      })
    case 'serverToolCall': {
      const { language = 'PYTHON', code } = block.args
      return dropUndefined(
        kind === 'executableCode'
          ? { executableCode: { language, code }, thoughtSignature }
          : { toolCall: dropUndefined({ id, toolType: block.name, args: block.args }), thoughtSignature },
      )
    }
    case 'serverToolResult': {
      const { toolCallId, output } = block
      const { toolType } = block.extras ?? {}
      return dropUndefined(
        kind === 'codeExecutionResult'
          ? { codeExecutionResult: { outcome, output: toText(output) }, thoughtSignature }
          : { toolResponse: dropUndefined({ id: toolCallId, toolType, response: output }), thoughtSignature },
      )
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'file': {
      const mimeType = mediaTypeOf(block)
      return dropUndefined({
        ...(block.base64 === undefined
          ? { fileData: { fileUri: block.url, mimeType } }
          : { inlineData: { mimeType, data: block.base64 } }),
        thoughtSignature,
      })
    }
    default:
      return undefined
  }
}

const mediaTypeOf = (media: MediaBlock): string => mimeTypeOf(media) ?? TYPES[media.type]

/** The types of media whose type is not known. */
const TYPES = { image: 'image/jpeg', audio: 'audio/mpeg', video: 'video/mp4', file: 'application/pdf' }
