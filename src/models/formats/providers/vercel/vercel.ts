import type { ContentBlock, Message, Usage } from '../../../../messages/index.ts'
import { isRecord } from '../../../../messages/record.ts'
import type { ModelRequest, Shape } from '../../format.ts'
import { defineFormat } from '../../reading/define.ts'
import {
  addError,
  addHead,
  addMetadata,
  addMore,
  addPart,
  addUnknown,
  choiceOf,
  type Draft,
  finishPart,
} from '../../reading/draft.ts'
import {
  collect,
  type Fields,
  fieldsOf,
  listOf,
  manyOf,
  names,
  stringOf,
  toText,
} from '../../reading/fields.ts'
import { contentOf, roleOf, toMessages, toRequest } from '../../reading/request.ts'
import { addUsage } from '../../reading/usage.ts'
import { asJson, readInputPart, readPart } from './parts.ts'
import { readUsage } from './usage.ts'

/**
 * Vercel's AI SDK 4 to 7: results of `generateText`, parts of `fullStream`, and results of models (V1 to V4)
 * in middleware. All steps of a result are one message; the results of tools that the SDK runs in between are
 * blocks.
 */
export const vercel = defineFormat({
  name: 'vercel',
  detect(value) {
    const fields = fieldsOf(value)
    // Reading any other field of such a result would start its stream.
    if ('fullStream' in fields) return undefined
    const { type, content, text, steps } = fields
    if (typeof type === 'string') {
      // An error that has a type is Anthropic's.
      const foreign = type === 'error' && fieldsOf(fields.error).type
      return isChunk(type, fields) && !foreign ? 'chunk' : undefined
    }
    const end = 'finishReason' in fields || 'finishReason' in fieldsOf(listOf(steps)[0])
    if (end && (Array.isArray(content) || Array.isArray(steps) || typeof text === 'string')) return 'response'
    return detectRequest(fields)
  },
  readRequest,
  open(draft) {
    const reading: Reading = { draft, steps: [], total: undefined }
    return (part) => readStreamed(reading, part)
  },
})

interface Reading {
  readonly draft: Draft
  readonly steps: Fields[]
  /** Of all steps. */
  total: Usage | undefined
}

/** Reads a part of the stream, or a whole result. */
function readStreamed(reading: Reading, part: Fields): void {
  const { draft } = reading
  const { type, id, toolCallId = id } = part
  switch (type) {
    case undefined:
      readResult(reading, part)
      break
    case 'text-delta':
    case 'text-start':
    case 'text-end':
    case 'reasoning':
    case 'reasoning-delta':
    case 'reasoning-start':
    case 'reasoning-end':
    case 'reasoning-signature':
      readTextPart(reading, part)
      break
    case 'tool-input-start':
    case 'tool-call-streaming-start': {
      const { id: _, ...call } = part
      addPart(choiceOf(draft), `call ${toolCallId}`, readPart({ ...call, type: 'tool-call', toolCallId }))
      break
    }
    case 'tool-input-delta':
    case 'tool-call-delta':
      addMore(choiceOf(draft), `call ${toolCallId}`, stringOf(part.delta ?? part.argsTextDelta))
      break
    case 'tool-call':
      finishPart(choiceOf(draft), `call ${toolCallId}`, readPart(part))
      break
    case 'tool-result': {
      const choice = choiceOf(draft)
      const key = `result ${toolCallId}`
      // A preliminary result starts the block, and the final one replaces it.
      if (!part.preliminary) finishPart(choice, key, readPart(part))
      else if (!choice.open?.has(key)) addPart(choice, key, readPart(part))
      break
    }
    case 'response-metadata':
      addHead(draft, { ...part, model: part.modelId, timestamp: asJson(part.timestamp) }, HEAD)
      break
    case 'start-step':
    case 'stream-start':
      if (listOf(part.warnings).length > 0) addHead(draft, { warnings: part.warnings })
      break
    case 'finish-step':
    case 'step-finish':
    case 'finish':
      readEnd(reading, part, type !== 'finish')
      break
    case 'abort':
      choiceOf(draft).reason = type
      addHead(draft, { finishReason: type, abortReason: part.reason })
      break
    case 'error':
      addError(draft, asJson(part.error))
      break
    case 'start':
    case 'step-start':
    case 'tool-input-end':
    // Raw parts repeat the chunks of the provider.
    case 'raw':
    case 'ping':
      break
    default:
      if (isChunk(type, part)) finishPart(choiceOf(draft), part, readPart(part))
      else addUnknown(draft, part)
  }
}

function readTextPart({ draft, steps }: Reading, part: Fields): void {
  const type = stringOf(part.type)
  const kind = type.startsWith('text') ? 'text' : 'reasoning'
  const key = `${kind} ${steps.length} ${part.id}`
  const text = stringOf(part.text ?? part.delta ?? part.textDelta)
  const ends = /-(end|signature)$/.test(type)
  const { providerMetadata, citations, signature } = part
  if (providerMetadata || citations || signature)
    addPart(choiceOf(draft), key, readPart({ type: kind, text, providerMetadata, citations, signature }))
  else if (!ends) addPart(choiceOf(draft), key, { type: kind, text })
  if (ends) finishPart(choiceOf(draft), key)
}

/** Reads the end of a step, or of the whole result. */
function readEnd(reading: Reading, fields: Fields, step: boolean): void {
  const { draft, steps } = reading
  const { response, model, usage, finishReason, warnings } = fields
  const counts = fields.totalUsage ?? usage
  const { id, modelId = fieldsOf(model).modelId, timestamp } = fieldsOf(response)
  const { provider } = fieldsOf(model)
  const about = { model: modelId, provider, timestamp: asJson(timestamp), usage: counts }
  const choice = choiceOf(draft)
  addHead(draft, { ...fields, ...about, id: undefined }, END)
  if (listOf(warnings).length > 0) addHead(draft, { warnings })
  if (id) addMetadata(choice, { id })
  const { unified = finishReason, raw } = fieldsOf(finishReason)
  choice.reason = (unified === 'other' && raw) || unified || choice.reason
  const counted = readUsage(counts, fields.providerMetadata ?? fields.experimental_providerMetadata)
  if (step) {
    steps.push({ id, model: modelId, finishReason, usage })
    if (steps.length > 1) addHead(draft, { steps })
    if (counted) reading.total = draft.usage = reading.total ? addUsage(reading.total, counted) : counted
  } else if (!reading.total) draft.usage = counted ?? draft.usage
}

function readResult(reading: Reading, result: Fields): void {
  const { draft } = reading
  const parts = listOf(result.steps).map(fieldsOf)
  const { id, modelId, timestamp } = fieldsOf(result.response)
  if (parts.length === 0) addHead(draft, { id, model: modelId, timestamp: asJson(timestamp) }, ID)
  for (const step of parts.length > 0 ? parts : [result]) {
    for (const part of contentOf(step.content ?? legacyContent(step), readPart))
      addPart(choiceOf(draft), undefined, part)
    if (parts.length > 0) readEnd(reading, step, true)
  }
  readEnd(reading, parts.length > 0 ? result : { ...result, response: undefined }, false)
}

const ID = names('id')
const HEAD = names('id type modelId')
/** Fields of a result that are read elsewhere, repeat the request or the content, or are telemetry. */
const END = names(
  'type id role content text reasoning reasoningText reasoningDetails files sources toolCalls staticToolCalls dynamicToolCalls toolResults staticToolResults dynamicToolResults steps request response rawCall rawResponse _output output experimental_output totalUsage warnings stepNumber functionId metadata experimental_context',
)
const REQUEST = names('prompt messages system instructions abortSignal')

const CHUNK =
  /^((text|reasoning|tool-input)-(start|delta|end)|reasoning-(file|signature)|redacted-reasoning|tool-(call(-streaming-start)?|result|error|output-denied|approval-request)|(step-|stream-)?start|start-step|response-metadata|(step-)?finish|finish-step|abort|raw)$/
/** Types of parts that other formats have too, and the fields of which the AI SDK's have at least one. */
const MARKS: Readonly<Record<string, string>> = {
  source: 'source sourceType',
  file: 'file mediaType mimeType',
  reasoning: 'textDelta',
  'tool-call-delta': 'toolCallId',
  custom: 'kind',
  error: 'error',
}

const isChunk = (type: unknown, part: Fields): boolean =>
  CHUNK.test(stringOf(type)) ||
  (Object.hasOwn(MARKS, stringOf(type)) && MARKS[stringOf(type)]!.split(' ').some((name) => name in part))

function detectRequest({ prompt, messages, model, ...others }: Fields): Shape | undefined {
  const list = listOf(prompt ?? messages)
  const own =
    fieldsOf(model).modelId ||
    'maxOutputTokens' in others ||
    'providerOptions' in others ||
    (prompt && list.some((message) => fieldsOf(message).role)) ||
    list.some((message) => {
      const { content, providerOptions } = fieldsOf(message)
      return providerOptions || listOf(content).some(isOwn)
    })
  return own && (prompt || messages) ? 'request' : undefined
}

const isOwn = (part: unknown): boolean => {
  const { type, mediaType, providerOptions } = fieldsOf(part)
  return /^tool-(call|result)$/.test(stringOf(type)) || !!mediaType || !!providerOptions
}

/** Collects the content of a result before AI SDK 5, which does not keep its order. */
function legacyContent({
  text,
  reasoning,
  reasoningDetails,
  files,
  sources,
  toolCalls,
  toolResults,
}: Fields) {
  const typed = (type: string, list: unknown) => listOf(list).map((item) => ({ ...fieldsOf(item), type }))
  const details = listOf(reasoningDetails ?? reasoning)
  const thoughts = details.length > 0 ? details : reasoning ? [{ text: reasoning }] : []
  return [
    ...thoughts.map((value) => {
      const thought = fieldsOf(value)
      return { ...thought, type: thought.type === 'redacted' ? 'redacted-reasoning' : 'reasoning' }
    }),
    ...listOf(files).map((file) => ({ type: 'file', file })),
    ...typed('source', sources),
    ...(text ? [{ type: 'text', text }] : []),
    ...typed('tool-call', toolCalls),
    ...typed('tool-result', toolResults),
  ]
}

function readRequest(request: unknown): ModelRequest {
  const fields = fieldsOf(request)
  const { prompt, messages, system = fields.instructions, model, tools } = fields
  const start = manyOf(system).map((value) => (isRecord(value) ? value : { role: 'system', content: value }))
  const list = prompt ?? messages
  const input = typeof list === 'string' ? [{ role: 'user', content: list }] : list
  const functions = Object.keys(fields).filter((key) => typeof fields[key] === 'function')
  const given = collect({}, fields, new Set(functions))!
  if (isRecord(model)) Object.assign(given, { model: model.modelId, provider: model.provider })
  if (isRecord(tools)) given.tools = Object.entries(tools).map(readTool)
  return toRequest(given, REQUEST, [...start, ...listOf(input)].flatMap(readMessage), input)
}

/** A tool as plain data: without its functions, and with its schema if that is JSON Schema. */
function readTool([name, value]: [string, unknown]): Fields {
  const { type, description, id, args, parameters, inputSchema = parameters } = fieldsOf(value)
  const { jsonSchema } = fieldsOf(inputSchema)
  return collect({ name }, { type, description, id, args, inputSchema: jsonSchema })!
}

const MESSAGE = names('role content')

function readMessage(value: unknown): Message[] {
  const message = fieldsOf(value)
  const { role: raw, content } = message
  const extras = collect(undefined, message, MESSAGE)
  // Parts of a tool message that are not results, such as approvals, come from the user.
  const role = raw === 'tool' ? 'user' : roleOf(raw)
  const parts = content === null ? [] : Array.isArray(content) ? content : [toText(content ?? value)]
  const read: (part: unknown) => ContentBlock | Message = raw === 'tool' ? readInputPart : readPart
  return toMessages({ role, ...(extras && { extras }) }, parts, read)
}
