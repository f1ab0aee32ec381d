const MAX_TITLE = 80

/** The title of a thread: the text of the first human message in its first input. */
export function titleOf(input: unknown): string | undefined {
  const messages = (input as { readonly messages?: unknown } | null | undefined)?.messages
  const list = Array.isArray(messages) ? messages : messages === undefined ? [] : [messages]
  for (const message of list) {
    const text = isHuman(message) ? textOf(message).trim() : ''
    // A character has at most two code units.
    if (text !== '') return [...text.slice(0, 2 * MAX_TITLE)].slice(0, MAX_TITLE).join('')
  }
  return undefined
}

type Fields = { readonly [key: string]: unknown }

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Accepts LangChain's flat messages, role/content pairs, tuples, constructor envelopes and plain strings. */
function isHuman(message: unknown): boolean {
  if (typeof message === 'string') return true
  if (Array.isArray(message)) return isHumanRole(message[0])
  if (!isFields(message)) return false
  if (Array.isArray(message.id) && message.id.at(-1) === 'HumanMessage') return true
  return isHumanRole(message.type ?? message.role)
}

const isHumanRole = (role: unknown): boolean => role === 'human' || role === 'user'

function textOf(message: unknown): string {
  if (typeof message === 'string') return message
  if (Array.isArray(message)) return contentText(message[1])
  if (!isFields(message)) return ''
  return contentText(isFields(message.kwargs) ? message.kwargs.content : message.content)
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((block) => (isFields(block) && typeof block.text === 'string' ? block.text : ''))
    .join('')
}
