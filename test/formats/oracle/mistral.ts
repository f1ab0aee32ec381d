import {
  at,
  dataUrl,
  type Fields,
  fieldsOf,
  hasText,
  isFields,
  optional,
  schemaOf,
  unique,
  wire,
} from './schema.ts'

const schema = schemaOf('mistral', (definitions) => {
  optional(definitions.ToolCall$Outbound, 'index', 'type')
})

/* The client fills in what the API does without. */
const FILLED = /must have required property '(prefix|closed)'$/

/** What chat completions of Mistral refuse. The sentences are its own, as people quote them. */
export function mistralRefusals(sent: unknown): string[] {
  const request = wire(sent)
  const refused = schema(request).filter((sentence) => !FILLED.test(sentence))
  if (!isFields(request)) return refused
  const refuse = (path: string, sentence: string) => refused.push(`${path}: ${sentence}`)
  const messages = fieldsOf(request.messages)
  if (messages.length === 0) refuse('messages', 'List should have at least 1 item')
  messages.forEach(({ role, content, tool_calls }, index) => {
    const path = at('messages', index)
    const calls = fieldsOf(tool_calls)
    const before = messages[index - 1]?.role
    if (role === 'user' && before === 'tool') refuse(path, "Unexpected role 'user' after role 'tool'")
    if (role === 'system' && index > 0 && before !== 'system')
      refuse(path, `Unexpected role 'system' after role '${before}'`)
    const empty = typeof content === 'string' ? content === '' : fieldsOf(content).length === 0
    if (role === 'assistant' && empty && calls.length === 0)
      refuse(path, 'Assistant message must have either content or tool_calls')
    if (role === 'user' && empty) refuse(path, 'User message must have content')
    for (const [place, { image_url }] of fieldsOf(content).entries()) {
      const url = isFields(image_url) ? image_url.url : image_url
      if (url !== undefined && !dataUrl(url) && !/^https?:\/\/./.test(String(url)))
        refuse(`${path}.content[${place}]`, 'Image url must be a valid url or a base64 image')
    }
    for (const [place, call] of calls.entries()) checkCall(call, `${path}.tool_calls[${place}]`, refuse)
    checkAnswers(messages, index, path, refuse)
  })
  return unique(refused)
}

type Refuse = (path: string, sentence: string) => void

function checkCall({ id, function: body }: Fields, path: string, refuse: Refuse): void {
  if (!/^[a-zA-Z0-9]{9}$/.test(String(id)))
    refuse(`${path}.id`, `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`)
  if (!isFields(body)) return
  if (!/^[a-zA-Z0-9_-]{1,256}$/.test(String(body.name)))
    refuse(`${path}.function.name`, 'Function name must be a-z, A-Z, 0-9, or contain underscores and dashes')
  try {
    if (isFields(body.arguments) || isFields(JSON.parse(String(body.arguments)))) return
  } catch {}
  refuse(`${path}.function.arguments`, 'Invalid function calling: arguments are no JSON')
}

/** As many results as calls, right after them. */
function checkAnswers(messages: readonly Fields[], index: number, path: string, refuse: Refuse): void {
  const { role, tool_calls, tool_call_id } = messages[index]!
  const idsOf = (message: Fields | undefined) => fieldsOf(message?.tool_calls).map(({ id }) => id)
  if (role === 'tool') {
    const caller = messages.slice(0, index).findLast((message) => message.role !== 'tool')
    if (!hasText(tool_call_id) || !idsOf(caller).includes(tool_call_id))
      refuse(path, 'Unexpected tool call id in tool results')
  }
  const calls = fieldsOf(tool_calls)
  if (calls.length === 0) return
  const rest = messages.slice(index + 1)
  const answers = rest.slice(0, rest.findIndex((message) => message.role !== 'tool') >>> 0)
  if (answers.length !== calls.length) refuse(path, 'Not the same number of function calls and responses')
  if (new Set(idsOf(messages[index])).size < calls.length)
    refuse(path, 'Duplicate tool call id in assistant message')
}
