import type { Annotation, ContentBlock, Message } from '../../../../messages/index.ts'
import {
  collect,
  type Fields,
  fieldsOf,
  listOf,
  manyOf,
  names,
  respell,
  spellings,
  stringOf,
  toText,
} from '../../fields.ts'
import { readBlock, readCitation, toCall, toResult, vocabulary } from '../../reading/blocks.ts'
import { type Calls, createCalls, idOfAnsweredCall, idOfCall } from '../../reading/calls.ts'
import { defineFormat } from '../../reading/define.ts'
import { addError, addHead, addMetadata, addPart, type Choice, choiceOf } from '../../reading/draft.ts'
import { roleOf, toMessages, toRequest, toToolMessage } from '../../reading/request.ts'
import { laterCounts } from '../../reading/usage.ts'
import { type ArgsWriter, createArgsWriter } from './partial-args.ts'
import { readUsage } from './usage.ts'

/**
 * Google Gemini: `generateContent` of the Gemini API and Vertex AI, its stream, and server messages of the
 * Live API. A chunk of a stream has the shape of a response and is detected as one.
 */
export const gemini = defineFormat({
  name: 'gemini',
  provider: 'google',
  detect(value) {
    const { contents, candidates, promptFeedback, usageMetadata, serverContent, toolCall } = fieldsOf(value)
    if (serverContent || fieldsOf(toolCall).functionCalls) return 'chunk'
    if (Array.isArray(candidates) || promptFeedback || usageMetadata) return 'response'
    return contents ? 'request' : undefined
  },
  readRequest(request) {
    const fields = fieldsOf(respell(request, REQUEST_NAMES))
    const { contents, systemInstruction, config, generationConfig, ...others } = fields
    const options: Fields = { ...others, ...fieldsOf(config), ...fieldsOf(generationConfig) }
    const calls = createCalls('call')
    const messages = [systemInstruction ?? options.systemInstruction, contents].flatMap((list, at) =>
      toContents(list).flatMap((content) => readContent(content, calls, at === 0)),
    )
    return toRequest(options, REQUEST, messages, contents ? [] : contents, 'contents')
  },
  open(draft) {
    const turns: Turn[] = []
    let usage: Fields | undefined

    function read(index: number, candidate: Fields, content: Fields): void {
      const choice = choiceOf(draft, index)
      const turn = (turns[index] ??= createTurn(`${toText(draft.id) || 'call'}-${index}`))
      readParts(choice, turn, listOf(content.parts), readSources(candidate))
      choice.reason = candidate.finishReason || choice.reason
      addMetadata(choice, content, CONTENT)
      addMetadata(choice, candidate, CANDIDATE)
    }

    return (chunk) => {
      const { candidates, promptFeedback, usageMetadata, serverContent, toolCall, error } = chunk
      addHead(draft, chunk, RESPONSE)
      if (chunk.responseId || chunk.modelVersion)
        addHead(draft, { id: chunk.responseId, model: chunk.modelVersion }, ID)
      if (usageMetadata) {
        // Early chunks have only some of the counts.
        usage = laterCounts(usage, usageMetadata)
        addHead(draft, { usage })
        draft.usage = readUsage(usage)
      }
      listOf(candidates).forEach((value, position) => {
        const candidate = fieldsOf(value)
        const { index } = candidate
        read(typeof index === 'number' ? index : position, candidate, fieldsOf(candidate.content))
      })
      if (serverContent || toolCall) readLive(fieldsOf(serverContent), fieldsOf(toolCall))
      if (fieldsOf(promptFeedback).blockReason) choiceOf(draft).reason = 'content_filter'
      if (error) addError(draft, error)
    }

    /** Reads a message of the Live API, which streams audio and its transcript side by side. */
    function readLive(live: Fields, { functionCalls }: Fields): void {
      const parts = listOf(fieldsOf(live.modelTurn).parts)
      const called = listOf(functionCalls).map((functionCall) => ({ functionCall }))
      const choice = choiceOf(draft)
      const { text: transcript } = fieldsOf(live.outputTranscription)
      for (const part of parts) {
        const { inlineData } = fieldsOf(part)
        if (inlineData) addPart(choice, 'audio', readPart(part, createCalls('')))
      }
      if (transcript) addPart(choice, 'audio', { type: 'audio', extras: { transcript } })
      read(0, live, { parts: [...parts.filter((part) => !fieldsOf(part).inlineData), ...called] })
      choice.reason ??= live.interrupted ? 'interrupted' : live.turnComplete ? 'stop' : undefined
    }
  },
})

const ID = names('id')
const CONTENT = names('parts role')
const CANDIDATE = names('content index modelTurn outputTranscription')
const RESPONSE = names(
  'candidates usageMetadata responseId modelVersion sdkHttpResponse serverContent toolCall',
)
const REQUEST = names('contents systemInstruction')
const REQUEST_NAMES = spellings(
  'contents systemInstruction generationConfig config parts inlineData fileData mimeType fileUri functionCall functionResponse executableCode codeExecutionResult thoughtSignature toolCall toolResponse toolType',
)

const VOCABULARY = vocabulary({ file: 'inlineData fileData' }, { url: 'fileUri', base64: 'data' })
const TEXT = names('text thought')
const CALL = names('id name toolType args')
const RESULT = names('id response toolType output')

type ReadPart = (fields: Fields, calls: Calls, type: string) => ContentBlock

/** The reader of each kind of part, by the field that a part of this kind has. */
const PARTS: Readonly<Record<string, ReadPart>> = {
  inlineData: readMedia,
  fileData: readMedia,
  functionCall: readCall,
  toolCall: readCall,
  executableCode: ({ id, ...args }, calls, type) =>
    readCall({ id, args, name: 'codeExecution' }, calls, type),
  codeExecutionResult: readResult,
  toolResponse: readResult,
}
const KINDS = names(
  'inlineData fileData functionCall toolCall executableCode codeExecutionResult toolResponse',
)

function readPart(value: unknown, calls: Calls): ContentBlock {
  if (typeof value === 'string') return { type: 'text', text: value }
  const part = fieldsOf(value)
  const { text, thought } = part
  if (typeof text === 'string') return withExtras({ type: thought ? 'reasoning' : 'text', text }, part, TEXT)
  for (const type in part)
    if (KINDS.has(type)) return withExtras(PARTS[type]!(fieldsOf(part[type]), calls, type), part, KINDS)
  return { type: 'nonStandard', value }
}

function withExtras(block: ContentBlock, fields: Fields, known: ReadonlySet<string>): ContentBlock {
  const extras = collect(undefined, fields, known)
  return extras ? { ...block, extras: { ...block.extras, ...extras } } : block
}

function readMedia(fields: Fields, _: Calls, type: string): ContentBlock {
  const [kind] = stringOf(fields.mimeType).split('/')
  const media = readBlock({ ...fields, type }, VOCABULARY)
  return /^(image|audio|video)$/.test(kind!) ? ({ ...media, type: kind } as ContentBlock) : media
}

function readCall(fields: Fields, calls: Calls, type: string): ContentBlock {
  const name = fields.name ?? fields.toolType
  const server = type !== 'functionCall'
  const extras = collect(server ? { type } : undefined, fields, CALL)
  return toCall(
    server ? 'serverToolCall' : 'toolCall',
    idOfCall(calls, fields.id, name),
    name,
    fields.args,
    extras,
  )
}

function readResult(fields: Fields, calls: Calls, type: string): ContentBlock {
  const { id, toolType = 'codeExecution', outcome, output = fields.response } = fields
  const failed = outcome && outcome !== 'OUTCOME_OK'
  return toResult(idOfAnsweredCall(calls, id, toolType), failed, output, collect({ type }, fields, RESULT))
}

interface Turn {
  readonly calls: Calls
  /** The key of the last block, and its type. */
  key: number
  type: string | undefined
  /** Whether the last block has a signature, which completes it. */
  signed: boolean
  text: number | undefined
  /** The writer of the call whose arguments are being streamed. */
  args: ArgsWriter | undefined
}

const createTurn = (prefix: string): Turn => ({
  calls: createCalls(prefix),
  key: 0,
  type: undefined,
  signed: false,
  text: undefined,
  args: undefined,
})

function readParts(
  choice: Choice,
  turn: Turn,
  parts: readonly unknown[],
  annotations: readonly Annotation[],
): void {
  // The sources belong to the last text.
  const cited = annotations.length > 0 ? parts.findLastIndex(isText) : -1
  for (const [at, part] of parts.entries()) {
    const { functionCall } = fieldsOf(part)
    const call = fieldsOf(functionCall)
    if (call.name) turn.args = undefined
    // An empty call ends a streamed one, and some servers send it twice.
    if (functionCall && !turn.args && Object.keys(call).length === 0) continue
    if (call.partialArgs || call.willContinue || (turn.args && functionCall))
      readPieces(choice, turn, fieldsOf(part), call)
    else {
      const block = readPart(part, turn.calls)
      addBlock(choice, turn, at === cited ? ({ ...block, annotations } as ContentBlock) : block)
    }
  }
  if (annotations.length > 0 && cited < 0)
    addPart(choice, (turn.text ??= ++turn.key), { type: 'text', text: '', annotations })
}

const isText = (part: unknown): boolean => {
  const { text, thought } = fieldsOf(part)
  return !!text && !thought
}

function addBlock(choice: Choice, turn: Turn, block: ContentBlock): void {
  const { type, extras } = block
  const textual = type === 'text' || type === 'reasoning'
  if (textual && !block.text && !extras) return
  if (!textual || turn.type !== type || turn.signed) turn.key += 1
  if (type === 'text') turn.text = turn.key
  turn.type = type
  turn.signed = !!extras?.thoughtSignature
  addPart(choice, turn.key, block)
}

/** Reads a piece of the call that Vertex AI is streaming. The first piece without `willContinue` ends it. */
function readPieces(choice: Choice, turn: Turn, part: Fields, call: Fields): void {
  const { partialArgs, willContinue, ...fields } = call
  let block: ContentBlock = { type: 'toolCall', name: '', args: {} }
  if (!turn.args) {
    turn.args = createArgsWriter()
    turn.type = 'toolCall'
    turn.key += 1
    block = readCall(fields, turn.calls, 'functionCall')
  }
  const args = turn.args.write(partialArgs) + (willContinue ? '' : turn.args.end())
  if (!willContinue) turn.args = undefined
  addPart(choice, turn.key, withExtras(block, part, KINDS), args)
}

/** Reads the grounding of a candidate as citations. Its indexes count bytes, so they stay in `extras`. */
function readSources({ groundingMetadata, citationMetadata }: Fields): Annotation[] {
  if (!groundingMetadata && !citationMetadata) return NO_SOURCES
  const { groundingChunks, groundingSupports } = fieldsOf(groundingMetadata)
  const { citations, citationSources } = fieldsOf(citationMetadata)
  const grounded = listOf(groundingSupports).flatMap((value) => {
    const { segment, groundingChunkIndices, ...others } = fieldsOf(value)
    const { text, ...place } = fieldsOf(segment)
    return listOf(groundingChunkIndices).map((at) => {
      const [type, source] = Object.entries(fieldsOf(listOf(groundingChunks)[at as number]))[0] ?? []
      return readCitation({ cited_text: text, ...others, ...fieldsOf(source), type, segment: place })
    })
  })
  const cited = listOf(citations ?? citationSources).map((value) => {
    const { startIndex, endIndex, ...others } = fieldsOf(value)
    return readCitation({ ...others, segment: { startIndex, endIndex } })
  })
  return [...grounded, ...cited]
}

const NO_SOURCES: Annotation[] = []

/** Normalizes contents, which may be a text, a part, a content or a list of these, to a list. */
function toContents(value: unknown): readonly unknown[] {
  const list = manyOf(value)
  return list.some((item) => 'parts' in fieldsOf(item)) ? list : list.length > 0 ? [{ parts: list }] : []
}

function readContent(value: unknown, calls: Calls, system: boolean): Message[] {
  const content = fieldsOf(value)
  const extras = collect(undefined, content, CONTENT)
  const parts = value === content ? content.parts : value
  return toMessages(
    { role: system ? 'system' : roleOf(content.role), ...(extras && { extras }) },
    manyOf(parts),
    (part) => readInput(part, calls),
  )
}

function readInput(part: unknown, calls: Calls): ContentBlock | Message {
  const { functionResponse, ...about } = fieldsOf(part)
  if (!functionResponse) return readPart(part, calls)
  const { id, name, response, parts, ...others } = fieldsOf(functionResponse)
  const { output, error } = fieldsOf(response)
  const extras = collect(collect(undefined, about, CONTENT), others, CONTENT)
  const plain = Object.keys(fieldsOf(response)).length === 1 ? (output ?? error) : undefined
  const content: ContentBlock[] = [
    { type: 'text', text: toText(plain ?? response) },
    ...listOf(parts).map((part) => readPart(part, calls)),
  ]
  return toToolMessage(idOfAnsweredCall(calls, id, name), error, content, extras, name)
}
