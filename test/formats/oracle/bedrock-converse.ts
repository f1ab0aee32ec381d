import { at, type Fields, fieldsOf, hasText, isBase64, isFields, schemaOf, unique, wire } from './schema.ts'

const schema = schemaOf('bedrockConverse')

/** What Converse refuses. The sentences are its own, as people quote them. */
export function bedrockConverseRefusals(sent: unknown): string[] {
  const request = wire(sent)
  const refused = schema(request)
  if (!isFields(request)) return refused
  const refuse = (path: string, sentence: string) => refused.push(`${path}: ${sentence}`)
  fieldsOf(request.system).forEach(({ text }, index) => {
    if (text !== undefined && !hasText(text)) refuse(at('system', index), 'The text field is blank.')
  })
  const messages = fieldsOf(request.messages)
  if (messages[0]?.role !== 'user')
    refuse(
      'messages',
      'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
    )
  messages.forEach(({ role, content }, index) => {
    const path = at('messages', index)
    const blocks = fieldsOf(content)
    if (index > 0 && messages[index - 1]!.role === role)
      refuse(path, 'A conversation must alternate between user and assistant roles.')
    if (blocks.length === 0)
      refuse(
        path,
        'The content field in the Message object is empty. Add a ContentBlock object to the content field and try again.',
      )
    blocks.forEach((block, place) => {
      const own = `${path}.content[${place}]`
      checkBlock(block, own, refuse)
      const [kind] = Object.keys(block)
      if (role === 'assistant' && /^(image|document|video|audio|toolResult)$/.test(String(kind)))
        refuse(own, `${kind} blocks are not supported in assistant messages`)
      if (role === 'user' && /^(toolUse|reasoningContent|citationsContent)$/.test(String(kind)))
        refuse(own, `${kind} blocks are not supported in user messages`)
    })
    if (blocks.some(({ document }) => document) && !blocks.some(({ text }) => hasText(text)))
      refuse(path, 'A text block must be included when a document is included')
    const last = blocks.at(-1)
    if (role === 'assistant' && index === messages.length - 1 && /\s$/.test(String(last?.text ?? '')))
      refuse(path, 'final assistant content cannot end with trailing whitespace')
    if (role === 'assistant' && last?.reasoningContent)
      refuse(path, 'The final block in an assistant message cannot be `thinking`.')
    checkPairs(messages, index, path, refuse)
  })
  const documents = messages
    .flatMap(({ content }) => fieldsOf(content))
    .flatMap(({ document }) => (isFields(document) ? [document.name] : []))
  if (new Set(documents).size < documents.length)
    refuse('messages', 'Messages contain duplicate document names')
  return unique(refused)
}

type Refuse = (path: string, sentence: string) => void

const ID = /^[a-zA-Z0-9_-]{1,64}$/
const MUST = 'Member must satisfy regular expression pattern'

function checkBlock(block: Fields, path: string, refuse: Refuse): void {
  const { text, toolUse, toolResult, document, reasoningContent } = block
  if (text !== undefined && !hasText(text))
    refuse(
      path,
      'The text field in the ContentBlock object is blank. Add text to the text field, and try again.',
    )
  if (isFields(toolUse)) {
    const { toolUseId, name, input } = toolUse
    if (!ID.test(String(toolUseId ?? ''))) refuse(`${path}.toolUse.toolUseId`, `${MUST}: [a-zA-Z0-9_-]+`)
    if (!ID.test(String(name ?? ''))) refuse(`${path}.toolUse.name`, `${MUST}: [a-zA-Z0-9_-]+`)
    if (!isFields(input))
      refuse(
        `${path}.toolUse.input`,
        'The format of the value is invalid. Provide a json object for the field and try again.',
      )
  }
  if (isFields(toolResult)) {
    const { toolUseId, content } = toolResult
    if (!ID.test(String(toolUseId ?? ''))) refuse(`${path}.toolResult.toolUseId`, `${MUST}: [a-zA-Z0-9_-]+`)
    if (!Array.isArray(content)) refuse(`${path}.toolResult.content`, 'Member must not be null')
    for (const [index, part] of fieldsOf(content).entries()) {
      checkBlock(part, `${path}.toolResult.content[${index}]`, refuse)
      if (part.json !== undefined && !isFields(part.json))
        refuse(
          `${path}.toolResult.content[${index}].json`,
          'The format of the value is invalid. Provide a json object for the field and try again.',
        )
    }
  }
  if (isFields(document)) {
    const name = String(document.name ?? '')
    if (!/^[A-Za-z0-9 ()[\]-]{1,200}$/.test(name) || / {2}/.test(name))
      refuse(
        `${path}.document.name`,
        "The document name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
      )
  }
  if (
    isFields(reasoningContent) &&
    isFields(reasoningContent.reasoningText) &&
    !hasText(reasoningContent.reasoningText.signature)
  )
    refuse(`${path}.reasoningContent.reasoningText.signature`, 'Field required')
  for (const kind of ['image', 'document', 'video', 'audio']) {
    const media = block[kind]
    if (!isFields(media)) continue
    if (media.format === undefined && kind !== 'document')
      refuse(`${path}.${kind}.format`, 'Member must not be null')
    if (!isFields(media.source)) refuse(`${path}.${kind}.source`, 'Member must not be null')
    else if (media.source.bytes !== undefined && !isBase64(media.source.bytes))
      refuse(`${path}.${kind}.source.bytes`, 'Could not process the bytes')
  }
}

/** Each call of a turn has one result in the next, and nothing else has one. */
function checkPairs(messages: readonly Fields[], index: number, path: string, refuse: Refuse): void {
  const idsOf = (message: Fields | undefined, field: 'toolUse' | 'toolResult') =>
    fieldsOf(message?.content).flatMap((block) => {
      const at = block[field]
      return isFields(at) ? [at.toolUseId] : []
    })
  const calls = idsOf(messages[index], 'toolUse')
  if (new Set(calls).size < calls.length) refuse(path, 'The toolUse blocks contain duplicate Ids')
  const answered = idsOf(messages[index + 1], 'toolResult')
  const open = calls.filter((id) => !answered.includes(id))
  if (open.length > 0)
    refuse(path, `Expected toolResult blocks at messages.${index + 1}.content for the following Ids: ${open}`)
  const results = idsOf(messages[index], 'toolResult')
  const asked = idsOf(messages[index - 1], 'toolUse')
  if (new Set(results).size < results.length) refuse(path, 'The toolResult blocks contain duplicate Ids')
  if (results.some((id) => !asked.includes(id)))
    refuse(path, 'The number of toolResult blocks exceeds the number of toolUse blocks of previous turn.')
}
