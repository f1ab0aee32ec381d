import type { OptionTable } from '../../../core/options.ts'
import { encodeUsage, type Message, textOf, type Usage } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { fieldsOf, listOf, stringOf } from '../../formats/fields.ts'
import type { Format, Issue, ModelRequest, Target } from '../../formats/index.ts'
import { TracingError, textOfError, textOfFailure } from '../errors.ts'
import { formatOf, targetOf } from './formats.ts'
import { requestMetadata } from './metadata.ts'
import { type Prices, partitionUsage } from './usage.ts'

/** How a model call is converted to the record that the platform shows. */
export interface ConvertOptions {
  /** The request as it was sent to the provider. */
  readonly request?: unknown
  /**
   * The provider's wire format, or its name. Default: detected from the response, otherwise from the request.
   */
  readonly format?: Format | string | undefined
  /**
   * The shape of `inputs` and `outputs`: a custom one, or `completions`, `responses`, `anthropic`,
   * `langchain` or `vercel`, which the Messages view reads. Default: the platform's own message format.
   */
  readonly target?: Target | string | undefined
  /** `ls_provider`. Default: the provider that defined the format. */
  readonly provider?: string | undefined
  /** `ls_model_name`. Default: the model in the response, otherwise the one in the request. */
  readonly model?: string | undefined
  readonly prices?: Prices | undefined
  /** Additional metadata. It overrides metadata that was found. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

export const CONVERT_OPTIONS: OptionTable<ConvertOptions> = {
  request: 'any',
  format: ['string', 'object'],
  target: ['string', 'object'],
  provider: 'string',
  model: 'string',
  prices: 'any',
  metadata: 'object',
}

export interface ModelCall extends ConvertOptions {
  /** The complete response. Absent if there was none. */
  readonly response?: unknown
}

/** An event of a run, such as `new_token`. */
export interface RunEvent {
  readonly name: string
  /** RFC 3339. */
  readonly time: string
  readonly kwargs?: Readonly<Record<string, unknown>>
}

/** A model call as fields of an `llm` run. It shares structure with the request and the response. */
export interface ModelCallRecord {
  readonly inputs: Readonly<Record<string, unknown>>
  readonly outputs: Readonly<Record<string, unknown>>
  /** The content of `extra.metadata`: `ls_provider`, `ls_model_name`, `usage_metadata` and similar fields. */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly events: readonly RunEvent[]
  /** Why the call failed. `outputs` contains what had arrived before. */
  readonly error?: string
  /**
   * The parts that do not match the format, so that the record is incomplete. Also in the metadata, as text.
   */
  readonly issues?: readonly Issue[]
}

/** The outcome of a model call, in the normal form. */
export interface Outcome {
  readonly messages: readonly Message[]
  readonly format?: Format | undefined
  readonly error?: string | undefined
  readonly issues?: readonly Issue[] | undefined
  readonly response?: unknown
}

/**
 * Converts a model call to the inputs, outputs and metadata of a run of type `llm`. It has no side effects. A
 * call in an unknown format becomes a best-effort record with `issues`. Throws `TracingError` for an unknown
 * format or target name.
 */
export function convertModelCall(call: ModelCall): ModelCallRecord {
  if (!isRecord(call)) throw new TracingError('call', 'Expected an object with `request` and `response`.')
  return toRecord(call, readOutcome(call.response, call), [])
}

export function readOutcome(given: unknown, { request, format }: ConvertOptions): Outcome {
  // A custom model may return plain text.
  const plain = typeof given === 'string' && format === undefined
  const response = plain ? { role: 'assistant', content: given } : given
  const known = formatOf(format, response, request)
  if (response === undefined) return { messages: [], format: known }
  if (!known) {
    const issues = [{ path: 'response', message: 'No format matches its shape.' }]
    return { messages: [wrapUnknown('assistant', response)], response, issues }
  }
  const { messages, error, issues } = known.readResponse(response)
  return {
    messages,
    format: known,
    response,
    error: textOfFailure(error),
    issues: issues?.map((issue) => issueWithin('response', issue)),
  }
}

export function toRecord(
  options: ConvertOptions,
  outcome: Outcome,
  events: readonly RunEvent[],
): ModelCallRecord {
  const { target: asked, provider, prices } = options
  const { messages, error, response } = outcome
  const format = outcome.format ?? formatOf(options.format, options.request)
  const target = targetOf(asked)
  const issues = outcome.issues ? [...outcome.issues] : []
  const request = readRequest(options.request, format, issues)
  const prompt = promptOf(options.request, response, format)
  const model = options.model ?? modelOf(messages) ?? request.params.model
  const usage = pricedUsage(messages, model, prices, issues)
  const metadata: Record<string, unknown> = {}
  const from = provider ?? format?.provider ?? providerOf(messages[0]?.metadata, request.extras)
  if (from !== undefined) metadata.ls_provider = from
  if (model !== undefined) metadata.ls_model_name = model
  metadata.ls_model_type = prompt === undefined ? 'chat' : 'llm'
  if (request !== NO_REQUEST) Object.assign(metadata, requestMetadata(request, model))
  if (asked !== undefined && prompt === undefined) Object.assign(metadata, shapeMetadata(target, metadata))
  if (usage) metadata.usage_metadata = encodeUsage(usage)
  if (issues.length > 0) metadata.conversion_issues = issues.map(({ path, message }) => `${path}: ${message}`)
  // Some shapes cannot express a missing response: without messages, they would write an empty but complete
  // one.
  const unanswered = error !== undefined && messages.length === 0
  const outputs = prompt === undefined ? target.writeOutputs(messages) : { choices: choicesOf(messages) }
  const record: { -readonly [Key in keyof ModelCallRecord]: ModelCallRecord[Key] } = {
    inputs: prompt === undefined ? target.writeInputs(request.messages) : { prompt },
    outputs: unanswered ? {} : outputs,
    metadata: options.metadata ? Object.assign(metadata, options.metadata) : metadata,
    events,
  }
  if (error !== undefined) record.error = error
  if (issues.length > 0) record.issues = issues
  return record
}

const NO_REQUEST: ModelRequest = { messages: [], params: {}, extras: {} }

function readRequest(request: unknown, format: Format | undefined, issues: Issue[]): ModelRequest {
  if (request === undefined) return NO_REQUEST
  const read = format?.readRequest(request)
  for (const issue of read?.issues ?? []) issues.push(issueWithin('request', issue))
  if (read) return read
  issues.push({ path: 'request', message: 'No format matches its shape.' })
  return { ...NO_REQUEST, messages: [wrapUnknown('user', request)] }
}

function issueWithin(path: string, issue: Issue): Issue {
  return { path: issue.path ? `${path}.${issue.path}` : path, message: issue.message }
}

/** Wraps a value of an unknown format in a message. */
function wrapUnknown(role: 'user' | 'assistant', value: unknown): Message {
  if (typeof value === 'string') return { role, content: [{ type: 'text', text: value }] }
  return { role, content: [{ type: 'nonStandard', value }] }
}

/** The prompt of an instruct model, which completes a text instead of answering messages. */
function promptOf(request: unknown, response: unknown, format: Format | undefined): unknown {
  if (format?.name !== 'openaiChat') return undefined
  if (!isRecord(request)) return request === undefined && isCompletion(response) ? '' : undefined
  const { prompt, messages } = request
  if (prompt === undefined || messages !== undefined) return undefined
  if (response === undefined ? !isText(prompt) : !isCompletion(response)) return undefined
  return Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt
}

const isText = (prompt: unknown): boolean => [prompt].flat().every((text) => typeof text === 'string')

/** Whether a response is a legacy completion. Together also sends the text of a message in this field. */
function isCompletion(response: unknown): boolean {
  const { object, choices } = fieldsOf(response)
  const { text, message } = fieldsOf(listOf(choices)[0])
  return object === 'text_completion' || (typeof text === 'string' && !message)
}

function choicesOf(messages: readonly Message[]): unknown[] {
  return messages.map((message, index) => ({
    text: textOf(message),
    index,
    ...(message.metadata && { finish_reason: message.metadata.finish_reason ?? null }),
  }))
}

/** The provider named by LangChain (`model_provider`) or the AI SDK (`openai.responses`). */
function providerOf(
  ...places: readonly (Readonly<Record<string, unknown>> | undefined)[]
): string | undefined {
  const named = places.map((fields) => fields?.model_provider ?? fields?.provider)
  const provider = named.find((value): value is string => typeof value === 'string' && value !== '')
  return provider?.split('.', 1).join().replaceAll('-', '_')
}

function modelOf([message]: readonly Message[]): string | undefined {
  return stringOf(message?.metadata?.model) || undefined
}

function pricedUsage(
  messages: readonly Message[],
  model: string | undefined,
  prices: Prices | undefined,
  issues: Issue[],
): Usage | undefined {
  const found = messages.find((message) => message.usage)?.usage
  if (!found) return undefined
  const { usage, issues: clamped } = partitionUsage(found)
  for (const issue of clamped) issues.push(issue)
  const { inputCost, outputCost, totalCost } = usage
  if (!prices || model === undefined || (inputCost ?? outputCost ?? totalCost) !== undefined) return usage
  try {
    const costs = prices(model, usage)
    if (!Object.values(costs ?? {}).some(Number.isNaN)) return { ...usage, ...costs }
    issues.push({ path: 'prices', message: 'Returned NaN.' })
  } catch (error) {
    issues.push({ path: 'prices', message: `Threw: ${textOfError(error)}` })
  }
  return usage
}

/** The metadata that tells the platform which shape to read. */
function shapeMetadata({ name }: Target, { ls_invocation_params }: Record<string, unknown>) {
  return {
    ls_message_format: name,
    ...(name === 'vercel' && { ls_integration: 'vercel-ai-sdk' }),
    ...(name === 'responses' && {
      ls_invocation_params: { ...(ls_invocation_params as object), use_responses_api: true },
    }),
  }
}
