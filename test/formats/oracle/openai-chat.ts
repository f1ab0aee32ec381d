import { at, dataUrl, type Fields, fieldsOf, isBase64, isFields, schemaOf, unique, wire } from './schema.ts'

const schema = schemaOf('openaiChat')

/** What a server of the shape is known to take or to refuse beyond OpenAI's own API. */
export interface ChatServer {
  /** Takes thoughts of earlier turns and signatures of calls back: DeepSeek, Kimi, vLLM, OpenRouter, Gemini. */
  readonly thoughts?: boolean
  /** Groq, Cerebras, Mistral: no field and no kind of call beyond the plain ones. */
  readonly strict?: boolean
}

const THOUGHTS =
  /^messages\[\d+\]\.(reasoning_content|reasoning|reasoning_details|tool_calls\[\d+\]\.extra_content): Extra inputs/

/** What Chat Completions refuses. The sentences are OpenAI's, as people quote them. */
export function openaiChatRefusals(sent: unknown, { thoughts, strict }: ChatServer = {}): string[] {
  const request = wire(sent)
  const refused = schema(request).filter((sentence) => !thoughts || !THOUGHTS.test(sentence))
  if (!isFields(request)) return refused
  const refuse = (path: string, sentence: string) => refused.push(`${path}: ${sentence}`)
  const messages = fieldsOf(request.messages)
  if (messages.length === 0) refuse('messages', '[] is too short')
  messages.forEach((message, index) => {
    const path = at('messages', index)
    const { role, content, name, refusal, audio, tool_calls, function_call } = message
    if (Array.isArray(content) && content.length === 0)
      refuse(`${path}.content`, 'empty array. Expected an array with minimum length 1')
    if (Array.isArray(tool_calls) && tool_calls.length === 0)
      refuse(`${path}.tool_calls`, 'empty array. Expected an array with minimum length 1')
    const calls = fieldsOf(tool_calls)
    if (role === 'assistant' && calls.length === 0 && !function_call && !audio && !refusal)
      if (content === null || content === undefined)
        refuse(`${path}.content`, 'Invalid value: expected a string, got null.')
    if (name !== undefined && !/^[^\s<|\\/>]{1,64}$/.test(String(name)))
      refuse(`${path}.name`, "string does not match pattern '^[^\\s<|\\\\/>]+$'")
    for (const [place, part] of fieldsOf(content).entries())
      checkPart(part, `${path}.content[${place}]`, refuse)
    for (const [place, call] of calls.entries())
      checkCall(call, `${path}.tool_calls[${place}]`, strict, refuse)
    checkAnswers(messages, index, path, refuse)
  })
  return unique(refused)
}

type Refuse = (path: string, sentence: string) => void

function checkCall(call: Fields, path: string, strict: boolean | undefined, refuse: Refuse): void {
  const { id, type } = call
  const body = call[type === 'custom' ? 'custom' : 'function']
  if (id === '') refuse(`${path}.id`, 'string too short. Expected a string with minimum length 1')
  if (String(id).length > 40)
    refuse(`${path}.id`, 'string too long. Expected a string with maximum length 40')
  if (isFields(body) && !/^[a-zA-Z0-9_-]{1,64}$/.test(String(body.name)))
    refuse(`${path}.function.name`, "string does not match pattern '^[a-zA-Z0-9_-]+$'")
  if (!strict) return
  if (type !== 'function') refuse(`${path}.type`, 'must be one of: function')
  try {
    if (isFields(body) && isFields(JSON.parse(String(body.arguments)))) return
  } catch {}
  refuse(`${path}.function.arguments`, 'Failed to parse tool call arguments as JSON')
}

function checkPart({ type, image_url, input_audio, file }: Fields, path: string, refuse: Refuse): void {
  if (type === 'image_url' && isFields(image_url)) {
    const { url } = image_url
    const image = dataUrl(url)
    if (!image && !/^https?:\/\/./.test(String(url)))
      refuse(`${path}.image_url.url`, 'Expected a valid URL, but got a value with an invalid format.')
    if (image && !/^image\/(png|jpeg|gif|webp)$/.test(image.mimeType))
      refuse(
        path,
        "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      )
  }
  if (type === 'input_audio' && isFields(input_audio) && !isBase64(input_audio.data))
    refuse(`${path}.input_audio.data`, 'Expected a valid base64 string')
  if (type === 'file' && isFields(file)) {
    const { file_data, file_id, filename } = file
    const missing = file_id === undefined && (file_data === undefined || !filename)
    if (missing) refuse(`${path}.file.file_id`, "Missing required parameter: 'file.file_id'")
    if (file_id !== undefined && file_data !== undefined)
      refuse(path, "Mutually exclusive parameters: 'file_id' and 'file_data'")
    if (file_data !== undefined && !dataUrl(file_data))
      refuse(`${path}.file.file_data`, 'Expected a base64-encoded data URL with a MIME type')
  }
}

/** The calls of a message are answered before the next message of another role, and answers have their call. */
function checkAnswers(messages: readonly Fields[], index: number, path: string, refuse: Refuse): void {
  const { role, tool_calls, tool_call_id } = messages[index]!
  const idsOf = (message: Fields | undefined) => fieldsOf(message?.tool_calls).map(({ id }) => id)
  if (role === 'tool') {
    const caller = messages.slice(0, index).findLast((message) => message.role !== 'tool')
    if (!idsOf(caller).includes(tool_call_id))
      refuse(path, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
  }
  const calls = fieldsOf(tool_calls)
  if (calls.length === 0) return
  const rest = messages.slice(index + 1)
  const answers = rest.slice(0, rest.findIndex((message) => message.role !== 'tool') >>> 0)
  const answered = answers.map((message) => message.tool_call_id)
  const ids = idsOf(messages[index])
  const open = ids.filter((id) => !answered.includes(id))
  if (open.length > 0)
    refuse(
      path,
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open}`,
    )
  if (new Set(ids).size < ids.length) refuse(path, "Duplicate value for 'tool_call_id'")
  if (new Set(answered).size < answered.length)
    refuse(path, "Duplicate value for 'tool_call_id' of an answer")
}
