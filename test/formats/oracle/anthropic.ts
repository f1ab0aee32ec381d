import { at, type Fields, fieldsOf, hasText, isBase64, isFields, schemaOf, unique, wire } from './schema.ts'

const schema = schemaOf('anthropic')

const ID = /^[a-zA-Z0-9_-]+$/
const SERVER_ID = /^srvtoolu_[a-zA-Z0-9_]+$/

/** What the Messages API refuses. The sentences are its own, as people quote them. */
export function anthropicRefusals(sent: unknown): string[] {
  const request = wire(sent)
  const refused = schema(request)
  if (!isFields(request)) return refused
  const refuse = (path: string, sentence: string) => refused.push(`${path}: ${sentence}`)
  const messages = fieldsOf(request.messages)
  if (messages.length === 0) refuse('messages', 'at least one message is required')
  if (messages[0] && messages[0].role !== 'user') refuse('messages', 'first message must use the "user" role')
  if (typeof request.system === 'string' && !hasText(request.system))
    refuse('system', 'text content blocks must be non-empty')
  checkBlocks(request.system, 'system', refuse)

  let cached = 0
  JSON.stringify(request, (_, value) => {
    if (isFields(value) && isFields(value.cache_control)) cached += 1
    return value
  })
  if (cached > 4)
    refuse('messages', `A maximum of 4 blocks with cache_control may be provided. Found ${cached}.`)

  const ids = new Set<unknown>()
  messages.forEach(({ role, content }, index) => {
    const path = at('messages', index)
    const last = index === messages.length - 1
    const blocks = fieldsOf(content)
    const optional = last && role === 'assistant'
    if ((typeof content === 'string' ? !hasText(content) : blocks.length === 0) && !optional)
      refuse(path, 'all messages must have non-empty content except for the optional final assistant message')
    checkBlocks(content, `${path}.content`, refuse)
    for (const [place, { type }] of blocks.entries()) {
      const own = String(type)
      if (role === 'assistant' && USERS.test(own))
        refuse(`${path}.content[${place}]`, `'${own}' blocks are not permitted within 'assistant' turns`)
      if (role === 'user' && ASSISTANTS.test(own))
        refuse(`${path}.content[${place}]`, `\`${own}\` blocks can only be in \`assistant\` messages`)
    }
    if (role === 'assistant') {
      const end = typeof content === 'string' ? content : blocks.at(-1)?.text
      if (last && typeof end === 'string' && /\s$/.test(end))
        refuse(path, 'final assistant content cannot end with trailing whitespace')
      if (/thinking$/.test(String(blocks.at(-1)?.type)))
        refuse(path, 'The final block in an assistant message cannot be `thinking`.')
      checkServerTools(blocks, last, path, refuse)
    }
    for (const { type, id } of blocks) {
      if (type !== 'tool_use') continue
      if (ids.has(id)) refuse(path, '`tool_use` ids must be unique')
      ids.add(id)
    }
    for (const sentence of checkPairs(
      blocks,
      fieldsOf(messages[index + 1]?.content),
      fieldsOf(messages[index - 1]?.content),
    ))
      refuse(path, sentence)
  })
  return unique(refused)
}

/**
 * What it refuses in addition when the request turns thinking on: the turn that is going on starts with a
 * thought if it has calls.
 */
export function anthropicThinkingRefusals(request: unknown): string[] {
  const messages = fieldsOf(isFields(request) ? request.messages : undefined)
  const started = messages.findLastIndex(
    ({ role, content }) =>
      role === 'user' && (typeof content === 'string' || !fieldsOf(content).some(isResult)),
  )
  return messages.slice(started + 1).flatMap(({ role, content }, index) => {
    const blocks = fieldsOf(content)
    const first = String(blocks[0]?.type)
    return role === 'assistant' && blocks.some(({ type }) => type === 'tool_use') && !/thinking$/.test(first)
      ? [`messages[${started + 1 + index}]: Expected thinking or redacted_thinking, but found ${first}`]
      : []
  })
}

const USERS = /^(image|document|tool_result|search_result|container_upload)$/
const ASSISTANTS = /^(tool_use|server_tool_use|mcp_tool_use|thinking|redacted_thinking|\w+_tool_result)$/

const isResult = ({ type }: Fields): boolean => type === 'tool_result'

type Refuse = (path: string, sentence: string) => void

/** The rules of single blocks, also of those within results and documents. */
function checkBlocks(content: unknown, path: string, refuse: Refuse): void {
  for (const [index, block] of fieldsOf(content).entries()) {
    const own = `${path}[${index}]`
    const { type, id, input, name, source, signature } = block
    if (type === 'text' && block.text === '') refuse(own, 'text content blocks must be non-empty')
    else if (type === 'text' && !hasText(block.text))
      refuse(own, 'text content blocks must contain non-whitespace text')
    if (/_use$/.test(String(type))) {
      if (!isFields(input)) refuse(`${own}.${type}.input`, 'Input should be a valid dictionary')
      const pattern = type === 'server_tool_use' ? SERVER_ID : ID
      if (!pattern.test(String(id)))
        refuse(`${own}.${type}.id`, `String should match pattern '${pattern.source}'`)
      if (type === 'tool_use' && !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)))
        refuse(`${own}.tool_use.name`, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
    }
    if (type === 'thinking' && !hasText(signature))
      refuse(`${own}.thinking.signature`, 'Invalid `signature` in `thinking` block')
    if (type === 'redacted_thinking' && !hasText(block.data)) refuse(`${own}.data`, 'Field required')
    if (isFields(source)) checkSource(source, own, refuse)
    if (type === 'tool_result') checkBlocks(block.content, `${own}.content`, refuse)
    if (type === 'document' && isFields(source)) checkBlocks(source.content, `${own}.source.content`, refuse)
  }
}

function checkSource({ type, data, url, file_id }: Fields, path: string, refuse: Refuse): void {
  if (type === 'base64' && !isBase64(data)) refuse(`${path}.source.base64`, 'invalid base64 data')
  if (type === 'text' && !hasText(data)) refuse(`${path}.source`, 'text content blocks must be non-empty')
  if (type === 'url' && !/^https:\/\//.test(String(url)))
    refuse(`${path}.source.url`, 'Only HTTPS URLs are supported.')
  if (type === 'file' && !hasText(file_id)) refuse(`${path}.source.file_id`, 'Field required')
}

/** Each call is answered at the start of the next message, once, and each result answers one. */
function checkPairs(blocks: readonly Fields[], next: readonly Fields[], before: readonly Fields[]): string[] {
  const sentences: string[] = []
  const head = next.slice(0, next.findIndex((block) => !isResult(block)) >>> 0)
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
  const answered = head.map(({ tool_use_id }) => tool_use_id)
  const open = calls.filter((id) => !answered.includes(id))
  if (open.length > 0)
    sentences.push(`\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open}`)
  const asked = before.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
  const results = blocks.filter(isResult).map(({ tool_use_id }) => tool_use_id)
  for (const id of results)
    if (!asked.includes(id))
      sentences.push(
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message`,
      )
  if (new Set(results).size < results.length)
    sentences.push('each tool_use must have a single result. Found multiple `tool_result` blocks with id')
  return sentences
}

/** A tool that Anthropic ran has its result in the same message, unless the turn was paused there. */
function checkServerTools(blocks: readonly Fields[], last: boolean, path: string, refuse: Refuse): void {
  const isServerUse = ({ type }: Fields) => /^(server|mcp)_tool_use$/.test(String(type))
  const isServerResult = ({ type }: Fields) => /_tool_result$/.test(String(type))
  const resultOf = ({ type, name }: Fields) =>
    type === 'mcp_tool_use' ? 'mcp_tool_result' : `${String(name).replace(/_(regex|bm25)$/, '')}_tool_result`
  const fits = (use: Fields, result: Fields) =>
    result.tool_use_id === use.id && String(result.type) === resultOf(use).replace('_tool_tool_', '_tool_')
  blocks.forEach((block, index) => {
    if (isServerUse(block) && !last && !blocks.slice(index).some((each) => fits(block, each)))
      refuse(
        path,
        `\`${block.name}\` tool use with id \`${block.id}\` was found without a corresponding result`,
      )
    if (
      isServerResult(block) &&
      !blocks.slice(0, index).some((each) => isServerUse(each) && fits(each, block))
    )
      refuse(path, `unexpected \`tool_use_id\` found in \`${block.type}\` blocks: ${block.tool_use_id}`)
  })
}
