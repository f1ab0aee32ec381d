import { isRecord } from '../../../messages/record.ts'
import { isEmpty, toSnake } from '../../formats/fields.ts'
import type { ModelParams, ModelRequest } from '../../formats/index.ts'

/** The names of parameters in `ls_invocation_params`, except those with a key of their own. */
const PARAMS: readonly (readonly [keyof ModelParams, string])[] = [
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['seed', 'seed'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['presencePenalty', 'presence_penalty'],
  ['choiceCount', 'n'],
  ['stream', 'stream'],
]

/** The other request fields that are shown. All others may contain credentials or personal data. */
const SHOWN = new Set(
  (
    'logit_bias logprobs top_logprobs max_tool_calls modalities parallel_tool_calls prediction prompt_cache_key reasoning ' +
    'reasoning_effort response_format response_mime_type response_schema safety_settings service_tier stream_options ' +
    'text thinking thinking_config tool_choice tool_config truncation verbosity web_search_options'
  ).split(' '),
)

/** The tool fields that are shown. Remote tools have addresses and credentials in other fields. */
const TOOL = ['type', 'name', 'description', 'parameters', 'input_schema', 'strict']

/**
 * Creates the `ls_…` metadata of a request.
 *
 * @param model `ls_model_name`. If the request names another model, such as an alias, the metadata shows
 * both.
 */
export function requestMetadata(
  { params, tools, extras }: ModelRequest,
  model: string | undefined,
): Record<string, unknown> {
  const metadata: Record<string, unknown> = {}
  const { temperature, maxTokens, stop } = params
  if (temperature !== undefined) metadata.ls_temperature = temperature
  if (maxTokens !== undefined) metadata.ls_max_tokens = maxTokens
  if (stop !== undefined) metadata.ls_stop = stop
  const shown: Record<string, unknown> = {}
  if (params.model !== undefined && params.model !== model) shown.model = params.model
  for (const [name, written] of PARAMS) if (params[name] !== undefined) shown[written] = params[name]
  for (const key in extras) {
    const name = toSnake(key)
    if (SHOWN.has(name)) shown[name] = extras[key]
  }
  if (tools) shown.tools = tools.map(shownTool)
  if (!isEmpty(shown)) metadata.ls_invocation_params = shown
  return metadata
}

function shownTool(tool: unknown): unknown {
  if (!isRecord(tool)) return { type: String(tool) }
  const shown: Record<string, unknown> = {}
  for (const key of TOOL) if (tool[key] !== undefined) shown[key] = tool[key]
  if (isRecord(tool.function)) shown.function = shownTool(tool.function)
  return shown
}
