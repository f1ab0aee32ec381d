import { type ContentBlock, decodeUsage, type FinishReason, type Message } from '../../../messages/index.ts'
import { generic } from '../../formats/index.ts'
import type { RunEvent } from '../convert/convert.ts'
import { formatOf } from '../convert/formats.ts'
import type { RunType, TracedRun } from '../traced-run.ts'

export type AttributeValue = string | number | boolean | string[]
export type Attributes = Record<string, AttributeValue>

const OPERATIONS: Readonly<Record<RunType, string>> = {
  llm: 'chat',
  chain: 'invoke_agent',
  tool: 'execute_tool',
  embedding: 'embeddings',
  retriever: 'retrieval',
  prompt: 'prompt',
  parser: 'parse',
}

/** Provider names in the semantic conventions that differ from `ls_provider`. */
const PROVIDERS: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  amazon_bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  google_genai: 'gcp.gemini',
  google_vertexai: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  watsonx: 'ibm.watsonx.ai',
}

/** The attribute `gen_ai.request.<value>` for each key of the metadata and its invocation parameters. */
const REQUEST: Readonly<Record<string, string>> = {
  ls_model_name: 'model',
  // The requested model, if the response names another one.
  model: 'model',
  ls_temperature: 'temperature',
  ls_max_tokens: 'max_tokens',
  ls_stop: 'stop_sequences',
  top_p: 'top_p',
  top_k: 'top_k',
  seed: 'seed',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  n: 'choice.count',
  stream: 'stream',
}

const DETAILS: Readonly<Record<string, string>> = {
  cache_read: 'cache_read.input_tokens',
  cache_creation: 'cache_write.input_tokens',
  reasoning: 'reasoning.output_tokens',
}

/** Finish reasons that the conventions spell differently. */
const REASONS: Partial<Readonly<Record<FinishReason, string>>> = {
  toolCalls: 'tool_call',
  contentFilter: 'content_filter',
}

const spell = (reason: FinishReason): string => REASONS[reason] ?? reason

/** The operation of a run: `chat`, `execute_tool`, … */
export function operationOf({ run_type, extra }: TracedRun): string {
  return extra.metadata.ls_model_type === 'llm' ? 'text_completion' : OPERATIONS[run_type]
}

/**
 * The attributes of a run's span: those of the semantic conventions for generative AI, version 0.1.0, and
 * those that LangSmith's OTLP endpoint reads: `langsmith.…`, `gen_ai.prompt`, `gen_ai.completion` and
 * `gen_ai.usage.total_tokens`. Lists and objects become JSON.
 */
export function genAiAttributes(run: TracedRun): Attributes {
  const { metadata } = run.extra
  const { ls_provider: provider, ls_model_name: model, usage_metadata } = metadata
  const attributes: Attributes = {
    'gen_ai.operation.name': operationOf(run),
    'langsmith.span.kind': run.run_type,
    'langsmith.trace.name': run.name,
  }
  if (run.tags) attributes['langsmith.span.tags'] = run.tags.join(',')
  if (typeof provider === 'string') attributes['gen_ai.provider.name'] = PROVIDERS[provider] ?? provider
  const params = { ...metadata, ...(metadata.ls_invocation_params as object | undefined) } as Record<
    string,
    unknown
  >
  for (const [key, name] of Object.entries(REQUEST)) set(attributes, `gen_ai.request.${name}`, params[key])
  set(attributes, 'gen_ai.tool.definitions', params.tools)
  const thread = metadata.thread_id ?? metadata.session_id ?? metadata.conversation_id
  set(attributes, 'gen_ai.conversation.id', thread)
  set(attributes, 'langsmith.trace.session_id', metadata.session_id)
  for (const [key, value] of Object.entries(metadata))
    if (key !== 'usage_metadata') set(attributes, `langsmith.metadata.${key}`, value)
  if (usage_metadata !== undefined) addUsage(attributes, usage_metadata)
  if (run.run_type === 'llm') addMessages(attributes, run, model)
  else {
    set(attributes, 'gen_ai.prompt', run.inputs)
    set(attributes, 'gen_ai.completion', run.outputs)
  }
  const first = run.events.find(({ name }) => name === 'new_token')
  if (first) attributes['gen_ai.response.time_to_first_chunk'] = secondsTo(first, run)
  if (run.error !== undefined) attributes['error.type'] = /^[\w.]+(?=:)/.exec(run.error)?.[0] ?? '_OTHER'
  return attributes
}

function set(attributes: Attributes, name: string, value: unknown): void {
  if (value === undefined || value === null) return
  const list = Array.isArray(value) && value.every((item) => typeof item === 'string')
  attributes[name] = list || typeof value !== 'object' ? (value as AttributeValue) : JSON.stringify(value)
}

function addUsage(attributes: Attributes, wire: unknown): void {
  attributes['langsmith.usage_metadata'] = JSON.stringify(wire)
  const usage = decodeUsage(wire)
  if (!usage) return
  const { inputTokens, outputTokens, totalTokens, inputDetails, outputDetails } = usage
  const counts: Record<string, number> = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: totalTokens,
  }
  for (const [details, side] of [
    [inputDetails, 'input'],
    [outputDetails, 'output'],
  ] as const)
    for (const [tiered, count] of Object.entries(details ?? {})) {
      // Service tiers have their own prices, but no names in the conventions.
      const key = tiered.replace(/^(flex|priority)_/, '')
      const name =
        DETAILS[key] ?? (key.startsWith('ephemeral') ? DETAILS.cache_creation! : `${key}.${side}_tokens`)
      counts[name] = (counts[name] ?? 0) + count
    }
  for (const [name, count] of Object.entries(counts)) attributes[`gen_ai.usage.${name}`] = count
}

function addMessages(attributes: Attributes, run: TracedRun, model: unknown): void {
  const { inputs, outputs = {} } = run
  const { ls_message_format, ls_model_type } = run.extra.metadata
  if (ls_model_type === 'llm') {
    set(attributes, 'gen_ai.prompt', inputs)
    set(attributes, 'gen_ai.completion', outputs)
    return
  }
  const format = ls_message_format === undefined ? generic : formatOf(undefined, outputs, inputs)
  const input = format?.readRequest(inputs).messages ?? []
  const { messages = [] } = format?.readResponse(outputs) ?? {}
  // A failed call may have an empty message that only says so.
  const output = messages.filter(({ content }) => run.error === undefined || content.length > 0)
  if (input.length > 0) set(attributes, 'gen_ai.input.messages', input.map(messagePart))
  if (output.length === 0 || Object.keys(outputs).length === 0) return
  set(attributes, 'gen_ai.output.messages', output.map(messagePart))
  set(attributes, 'gen_ai.response.id', output[0]!.id)
  set(attributes, 'gen_ai.response.model', model)
  const reasons = output.flatMap(({ finishReason }) => (finishReason ? spell(finishReason) : []))
  if (reasons.length > 0) attributes['gen_ai.response.finish_reasons'] = reasons
}

function messagePart({ role, name, content, toolCallId, finishReason }: Message): unknown {
  const parts =
    role === 'tool'
      ? [{ type: 'tool_call_response', id: toolCallId ?? null, response: responseOf(content) }]
      : content.map(partOf)
  return { role, parts, ...(name && { name }), ...(finishReason && { finish_reason: spell(finishReason) }) }
}

function responseOf(content: readonly ContentBlock[]): unknown {
  const [only] = content
  return content.length === 1 && only?.type === 'text' ? only.text : content.map(partOf)
}

function partOf(block: ContentBlock): unknown {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: block.type, content: block.text }
    case 'toolCall':
    case 'invalidToolCall':
      return { type: 'tool_call', id: block.id ?? null, name: block.name ?? '', arguments: block.args }
    case 'serverToolCall': {
      const { id = null, name, args } = block
      return { type: 'server_tool_call', id, name, server_tool_call: { type: name, arguments: args } }
    }
    case 'serverToolResult': {
      const { toolCallId: id, status, output } = block
      const response = { type: 'result', status, ...(output !== undefined && { output }) }
      return { type: 'server_tool_call_response', id, server_tool_call_response: response }
    }
    case 'nonStandard':
      return { type: 'non_standard', value: block.value ?? null }
    default: {
      const { type, url, base64, fileId, mimeType } = block
      const about = {
        modality: type === 'file' ? 'document' : type,
        ...(mimeType && { mime_type: mimeType }),
      }
      if (base64 !== undefined) return { type: 'blob', ...about, content: base64 }
      return fileId !== undefined
        ? { type: 'file', ...about, file_id: fileId }
        : { type: 'uri', ...about, uri: url ?? '' }
    }
  }
}

const secondsTo = ({ time }: RunEvent, { start_time }: TracedRun): number =>
  Math.max(0, Date.parse(time) - Date.parse(start_time)) / 1000
