import { at, dataUrl, type Fields, fieldsOf, hasText, isFields, schemaOf, unique, wire } from './schema.ts'

/* The reference takes a document's data as text, too. */
const schema = schemaOf('cohere', (definitions) => {
  definitions.Document!.properties.data = { type: ['object', 'string'] }
})

/** What `/v2/chat` of Cohere refuses. */
export function cohereRefusals(sent: unknown): string[] {
  const request = wire(sent)
  const refused = schema(request)
  if (!isFields(request)) return refused
  const refuse = (path: string, sentence: string) => refused.push(`${path}: ${sentence}`)
  const messages = fieldsOf(request.messages)
  if (messages.length === 0) refuse('messages', 'must have at least one message')
  messages.forEach((message, index) => {
    const path = at('messages', index)
    const { role, content, tool_calls, tool_plan } = message
    const calls = fieldsOf(tool_calls)
    const empty = typeof content === 'string' ? content === '' : fieldsOf(content).length === 0
    if (empty && !(role === 'assistant' && (calls.length > 0 || hasText(tool_plan))))
      refuse(path, 'message must be at least 1 token long or tool results must be specified.')
    for (const [place, { type, text, image_url }] of fieldsOf(content).entries()) {
      if (type === 'text' && text === '') refuse(`${path}.content[${place}]`, 'text must not be empty')
      if (type === 'image_url' && isFields(image_url)) {
        const image = dataUrl(image_url.url)
        if (
          image
            ? !/^image\/(png|jpeg|gif|webp)$/.test(image.mimeType)
            : !/^https?:\/\/./.test(String(image_url.url))
        )
          refuse(`${path}.content[${place}]`, 'image url is invalid or of an unsupported type')
      }
    }
    for (const [place, call] of calls.entries()) checkCall(call, `${path}.tool_calls[${place}]`, refuse)
    checkAnswers(messages, index, path, refuse)
  })
  return unique(refused)
}

type Refuse = (path: string, sentence: string) => void

function checkCall({ id, function: body }: Fields, path: string, refuse: Refuse): void {
  if (!hasText(id)) refuse(`${path}.id`, 'tool call id is required')
  if (!isFields(body) || !hasText(body.name)) refuse(`${path}.function.name`, 'name is required')
  try {
    if (isFields(body) && isFields(JSON.parse(String(body.arguments)))) return
  } catch {}
  refuse(`${path}.function.arguments`, 'arguments must be a JSON object')
}

/** Each call is answered right after its message, and each result answers a call. */
function checkAnswers(messages: readonly Fields[], index: number, path: string, refuse: Refuse): void {
  const { role, tool_calls, tool_call_id } = messages[index]!
  const idsOf = (message: Fields | undefined) => fieldsOf(message?.tool_calls).map(({ id }) => id)
  if (role === 'tool') {
    const caller = messages.slice(0, index).findLast((message) => message.role !== 'tool')
    if (!idsOf(caller).includes(tool_call_id)) refuse(path, 'tool call id not found in previous tool calls')
  }
  if (fieldsOf(tool_calls).length === 0) return
  const rest = messages.slice(index + 1)
  const answered = rest
    .slice(0, rest.findIndex((message) => message.role !== 'tool') >>> 0)
    .map((message) => message.tool_call_id)
  const open = idsOf(messages[index]).filter((id) => !answered.includes(id))
  if (open.length > 0) refuse(path, `missing tool results for tool calls with ids: ${open}`)
}
