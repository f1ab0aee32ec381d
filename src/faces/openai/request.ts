import type { ClientTool, ModelRequest, ResponseFormat } from '../../agents/model-request.ts'
import { defined, type Fields, isRecord, itemsOf } from '../../messages/record.ts'

/** The functions in `tools` of both protocols. Tools that a provider runs, and custom tools, are left out. */
export const clientToolsOf = ({ tools = [] }: { readonly tools?: readonly unknown[] | undefined }) =>
  tools.filter(isRecord).flatMap((tool): readonly ClientTool[] => {
    const { name, description, parameters } = isRecord(tool.function) ? tool.function : tool
    if ((tool.type ?? 'function') !== 'function' || typeof name !== 'string' || name === '') return []
    const about = {
      description: typeof description === 'string' ? description : undefined,
      parameters: isRecord(parameters) ? parameters : undefined,
    }
    return [{ type: 'function', function: { name, ...defined(about) } }]
  })

/** The settings for the model in the body of both protocols. Values of other types are left out. */
export function requestOf(body: Fields): Omit<ModelRequest, 'tools'> {
  const { max_completion_tokens, max_output_tokens, max_tokens, parallel_tool_calls, stop } = body
  const effort = body.reasoning_effort ?? Object(body.reasoning).effort
  const stops = (typeof stop === 'string' ? [stop] : itemsOf(stop)).filter((one) => typeof one === 'string')
  return defined({
    toolChoice: toolChoiceOf(body.tool_choice),
    parallelToolCalls: typeof parallel_tool_calls === 'boolean' ? parallel_tool_calls : undefined,
    responseFormat: formatOf(body.response_format ?? Object(body.text).format),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    maxTokens: numberOf(max_completion_tokens ?? max_output_tokens ?? max_tokens),
    stop: stops.length > 0 ? stops : undefined,
    seed: numberOf(body.seed),
    presencePenalty: numberOf(body.presence_penalty),
    frequencyPenalty: numberOf(body.frequency_penalty),
    reasoningEffort: typeof effort === 'string' ? effort : undefined,
  })
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

function toolChoiceOf(choice: unknown): ModelRequest['toolChoice'] {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  const { name = Object(Object(choice).function).name } = Object(choice) as Fields
  return typeof name === 'string' ? { name } : undefined
}

/** Chat completions nest the schema, responses do not. */
function formatOf(format: unknown): ResponseFormat | undefined {
  if (!isRecord(format)) return undefined
  if (format.type === 'text') return { type: 'text' }
  if (format.type === 'json_object') return { type: 'json' }
  const { name, description, schema, strict } = isRecord(format.json_schema) ? format.json_schema : format
  if (format.type !== 'json_schema' || !isRecord(schema)) return undefined
  const about = {
    name: typeof name === 'string' ? name : undefined,
    description: typeof description === 'string' ? description : undefined,
    strict: typeof strict === 'boolean' ? strict : undefined,
  }
  return { type: 'schema', schema, ...defined(about) }
}
