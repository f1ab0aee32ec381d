import type { FoundAnswer } from '../../engine/index.ts'
import { type ContentBlock, decodeMessage, type MediaBlock } from '../../messages/index.ts'
import { itemsOf } from '../../messages/record.ts'
import { messagesOfAnswer, stateAfter } from '../kit/answer-messages.ts'
import type { Fields, McpContext } from './options.ts'
import type { Question } from './questions.ts'
import { outputSchemaOf, propertiesOf } from './schemas.ts'
import { ANSWER_TOOL, type AssistantTool } from './tools.ts'

/** A `CallToolResult`. */
export interface ToolResult {
  readonly [field: string]: unknown
  readonly content: readonly Fields[]
  readonly structuredContent?: Fields
  readonly isError?: boolean
}

const textContent = (text: string): Fields => ({ type: 'text', text })

export const errorResult = (text: string, threadId: string): ToolResult => ({
  content: [textContent(text)],
  isError: true,
  ...metaOf(threadId),
})

/** For programs. Models do not see it. */
const metaOf = (threadId: string) => ({ _meta: { 'agentwire/threadId': threadId } })

/**
 * The result of an answer that has ended: the agent's last message, or the values that its output schema
 * names.
 */
export async function resultOf(
  { engine, options }: McpContext,
  { agent }: AssistantTool,
  found: Pick<FoundAnswer, 'thread' | 'record'>,
): Promise<ToolResult> {
  const { threadId, state: status, error, details } = found.record
  if (status === 'canceled') return errorResult(error ?? 'The run was cancelled.', threadId)
  if (status === 'failed' || status === 'rejected')
    return errorResult(error ?? 'The run has failed.', threadId)
  const { messages, ...values } = (await stateAfter(engine, found))?.values ?? {}
  const schema = await outputSchemaOf(agent, options)
  if (schema) {
    const names = propertiesOf(schema)
    const kept = Object.entries(values).filter(([name]) => name in names)
    const structured = {
      ...Object.fromEntries(kept),
      ...('threadId' in names && !('threadId' in values) && { threadId }),
    }
    return {
      content: [textContent(JSON.stringify(structured))],
      structuredContent: structured,
      ...metaOf(threadId),
    }
  }
  const written = messagesOfAnswer(itemsOf(messages), Object(details))
    .flatMap((message) => decodeMessage(message) ?? [])
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => content.flatMap(contentOf))
    .findLast((content) => content.length > 0)
  const content = written ?? [textContent(JSON.stringify(values))]
  return {
    content: [...content, ...(options.threads === false ? [] : [threadNote(threadId)])],
    ...metaOf(threadId),
  }
}

const threadNote = (threadId: string): Fields =>
  textContent(
    `(To go on with this conversation, call the tool again with threadId ${JSON.stringify(threadId)}.)`,
  )

/** An agent's content as MCP content. Reasoning and tool calls are left out. */
function contentOf(block: ContentBlock): readonly Fields[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [textContent(block.text)]
    case 'image':
    case 'audio':
    case 'video':
    case 'file':
      return mediaContent(block)
    default:
      return []
  }
}

function mediaContent({ type, base64, url, mimeType, id = 'file', extras }: MediaBlock): readonly Fields[] {
  const name = typeof extras?.filename === 'string' ? extras.filename : id
  const kind = mimeType !== undefined && { mimeType }
  if (base64 === undefined)
    return url === undefined ? [] : [{ type: 'resource_link', uri: url, name, ...kind }]
  if ((type === 'image' || type === 'audio') && mimeType !== undefined)
    return [{ type, data: base64, mimeType }]
  return [
    {
      type: 'resource',
      resource: { uri: `file:///${encodeURIComponent(name)}`, blob: base64, ...kind },
    },
  ]
}

/** The questions of an answer as text, for a client that cannot show forms. It tells the model what to do. */
export async function questionsResult(
  { options }: McpContext,
  { agent }: AssistantTool,
  { threadId, questions }: { readonly threadId: string; readonly questions: readonly Question[] },
): Promise<ToolResult> {
  const asked = questions.map(({ id, form: { message, schema } }) => {
    const call = JSON.stringify({ threadId, questionId: id, answer: '…' })
    const how = `To answer, call the tool ${ANSWER_TOOL} with ${call}, where answer fits ${JSON.stringify(schema)}.`
    return options.answers === false ? message : `${message}\n${how}`
  })
  const text =
    asked.length > 0
      ? `The assistant asks:\n\n${asked.join('\n\n')}`
      : 'The assistant has stopped before it was done.'
  // A client that knows an output schema rejects a result without structured content.
  const hasOutput = (await outputSchemaOf(agent, options)) !== undefined
  return {
    content: [textContent(text)],
    ...(hasOutput && { structuredContent: options.threads === false ? {} : { threadId } }),
    ...metaOf(threadId),
  }
}
