import {
  at,
  dataUrl,
  type Fields,
  fieldsOf,
  hasText,
  isFields,
  optional,
  type Schema,
  schemaOf,
  unique,
  wire,
} from './schema.ts'

/* The types ask for fields that answers have and that the API does without, as its clients leave them out. */
const schema = schemaOf('openaiResponses', (definitions) => {
  optional(definitions.ResponseOutputMessage, 'id', 'status')
  optional(definitions.ResponseOutputText, 'annotations')
  optional(definitions.ResponseInputImage, 'detail')
  optional(definitions.ResponseReasoningItem, 'id')
  delete definitions['ResponseInputItem.ImageGenerationCall']?.properties.action
  definitions.ResponseInputItem = byContent(definitions.ResponseInputItem) as Schema
})

/** Decides by the content which of two kinds of message is meant, so that an error is about that one. */
function byContent(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(byContent)
  if (!isFields(schema)) return schema
  if (!Array.isArray(schema.anyOf))
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, byContent(value)]))
  const [easy, whole] = schema.anyOf as unknown[]
  return { if: { properties: { content: { type: 'array' } } }, then: whole, else: easy }
}

/** What the Responses API refuses. The sentences are its own, as people quote them. */
export function openaiResponsesRefusals(sent: unknown): string[] {
  const request = typed(wire(sent))
  const refused = schema(request)
  if (!isFields(request)) return refused
  const refuse = (path: string, sentence: string) => refused.push(`${path}: ${sentence}`)
  const items = fieldsOf(request.input)
  if (request.input === '' || (Array.isArray(request.input) && items.length === 0))
    refuse('input', 'One of "input" or "previous_response_id" must be provided.')
  const ids = new Set<unknown>()
  items.forEach((item, index) => {
    const path = at('input', index)
    const { type = 'message', id, call_id } = item
    if (id !== undefined && id !== null) {
      checkId(String(type), String(id), path, refuse)
      if (ids.has(id)) refuse(path, `Duplicate item found with id ${id}`)
      ids.add(id)
    }
    if (call_id === '') refuse(`${path}.call_id`, 'empty string. Expected a string with minimum length 1')
    if (String(call_id).length > 64)
      refuse(`${path}.call_id`, 'string too long. Expected a string with maximum length 64')
    if (
      /^(function|custom_tool)_call$/.test(String(type)) &&
      !/^[a-zA-Z0-9_-]{1,128}$/.test(String(item.name))
    )
      refuse(`${path}.name`, "string does not match pattern '^[a-zA-Z0-9_-]+$'")
    if (type === 'message') checkMessage(item, path, refuse)
    if (type === 'reasoning') checkReasoning(items, index, path, refuse)
    for (const [place, part] of fieldsOf(item.output).entries())
      checkPart(part, `${path}.output[${place}]`, refuse)
    checkAnswers(items, index, path, refuse)
  })
  return unique(refused)
}

/** The request with the type that a message may leave out. */
const typed = (request: unknown): unknown =>
  isFields(request) && Array.isArray(request.input)
    ? {
        ...request,
        input: request.input.map((item: unknown) =>
          isFields(item) && item.type === undefined && item.role ? { ...item, type: 'message' } : item,
        ),
      }
    : request

type Refuse = (path: string, sentence: string) => void

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fc',
  custom_tool_call: 'ctc',
  web_search_call: 'ws',
  file_search_call: 'fs',
  code_interpreter_call: 'ci',
  image_generation_call: 'ig',
  computer_call: 'cu',
  mcp_call: 'mcp',
  mcp_list_tools: 'mcpl',
  mcp_approval_request: 'mcpr',
  local_shell_call: 'lsh',
  shell_call: 'sh',
  apply_patch_call: 'apc',
  tool_search_call: 'tsc',
}

function checkId(type: string, id: string, path: string, refuse: Refuse): void {
  const prefix = PREFIXES[type]
  if (!/^[A-Za-z0-9_]+$/.test(id))
    refuse(`${path}.id`, 'Expected an ID that contains letters, numbers, underscores, or dashes')
  else if (prefix && !id.startsWith(`${prefix}_`))
    refuse(`${path}.id`, `Expected an ID that begins with '${prefix}'.`)
  if (id.length > 64) refuse(`${path}.id`, 'string too long. Expected a string with maximum length 64')
}

function checkMessage({ role, content }: Fields, path: string, refuse: Refuse): void {
  if (Array.isArray(content) && content.length === 0)
    refuse(`${path}.content`, 'empty array. Expected an array with minimum length 1')
  fieldsOf(content).forEach((part, place) => {
    const own = `${path}.content[${place}]`
    const { type } = part
    if (role === 'assistant' && !/^(output_text|refusal)$/.test(String(type)))
      refuse(`${own}.type`, `Invalid value: '${type}'. Supported values are: 'output_text' and 'refusal'.`)
    if (role !== 'assistant') {
      if (!/^input_(text|image|file)$/.test(String(type)))
        refuse(
          `${own}.type`,
          `Invalid value: '${type}'. Supported values are: 'input_text', 'input_image', and 'input_file'.`,
        )
      checkPart(part, own, refuse)
    }
  })
}

function checkPart(
  { type, image_url, file_id, file_data, file_url, filename }: Fields,
  path: string,
  refuse: Refuse,
) {
  const given = (value: unknown) => value !== undefined && value !== null
  if (type === 'input_image') {
    if (given(image_url) === given(file_id)) refuse(path, "Expected exactly one of 'image_url' and 'file_id'")
    const image = dataUrl(image_url)
    if (given(image_url) && !image && !/^https?:\/\/./.test(String(image_url)))
      refuse(`${path}.image_url`, 'Expected a valid URL, but got a value with an invalid format.')
    if (image && !/^image\/(png|jpeg|gif|webp)$/.test(image.mimeType))
      refuse(
        `${path}.image_url`,
        `Expected a base64-encoded data URL with an image MIME type, but got unsupported MIME type '${image.mimeType}'.`,
      )
  }
  if (type === 'input_file') {
    const sources = [file_id, file_data, file_url].filter(given)
    if (sources.length !== 1) refuse(path, "Expected exactly one of 'file_id', 'file_data' and 'file_url'")
    if (given(file_data) && !filename) refuse(`${path}.filename`, 'Missing required parameter')
    if (given(file_url) && given(filename))
      refuse(path, "Mutually exclusive parameters: 'file_url' and 'filename'")
    if (given(file_data) && !dataUrl(file_data))
      refuse(`${path}.file_data`, 'Expected a base64-encoded data URL with a MIME type')
    if (given(file_url) && !/^https?:\/\/./.test(String(file_url)))
      refuse(`${path}.file_url`, 'Expected a valid URL, but got a value with an invalid format.')
  }
}

/** A thought is known by its id or carries itself, and stands before what the model did after it. */
function checkReasoning(items: readonly Fields[], index: number, path: string, refuse: Refuse): void {
  const { id, encrypted_content } = items[index]!
  if (!hasText(id) && !hasText(encrypted_content)) refuse(`${path}.id`, 'Missing required parameter')
  const next = items.slice(index + 1).find(({ type }) => type !== 'reasoning')
  // A reference stands for the item that it names.
  const follows = next && (/_call$|^item_reference$/.test(String(next.type)) || next.role === 'assistant')
  if (!follows)
    refuse(path, `Item '${id}' of type 'reasoning' was provided without its required following item.`)
}

const CALL = /^(function|custom_tool|computer|local_shell|shell|apply_patch)_call$/

/** Each call of a tool of the caller has one output, and each output its call. */
function checkAnswers(items: readonly Fields[], index: number, path: string, refuse: Refuse): void {
  const { type, call_id, execution } = items[index]!
  const kind = String(type)
  const count = (list: readonly Fields[], wanted: string) =>
    list.filter((item) => item.type === wanted && item.call_id === call_id).length
  const rest = items.slice(index + 1)
  if (CALL.test(kind)) {
    const output = `${kind}_output`
    if (count(rest, output) < 1 + count(rest, kind))
      refuse(path, `No tool output found for function call ${call_id}.`)
  }
  if (/_output$/.test(kind) && kind !== 'program_output' && execution !== 'server') {
    const before = items.slice(0, index)
    const call = kind.replace(/_output$/, kind === 'tool_search_output' ? '_call' : '')
    if (count(before, call) <= count(before, kind))
      refuse(path, `No tool call found for function call output with call_id ${call_id}.`)
  }
}
