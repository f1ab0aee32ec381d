import type { AIMessage, BaseMessage } from '@langchain/core/messages'
import { mediaOf } from './media.ts'
import { textOf } from './messages.ts'
import { states } from './states.ts'
import { readableName } from './tool-calls.ts'
import { turnsOf } from './turns.ts'

/** A conversation as Markdown: questions, answers and the tools that were called. */
export function conversationMarkdown(title: string, agent: string, messages: readonly BaseMessage[]): string {
  const parts = turnsOf(messages).flatMap(({ question, answer }) => [
    ...(question ? [`## You`, ...partsOf(question)] : []),
    `## ${agent}`,
    ...answer.filter(({ type }) => type === 'ai').flatMap(partsOf),
  ])
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`
}

const partsOf = (message: BaseMessage): readonly string[] => [
  ...[textOf(message).trim()].filter((text) => text !== ''),
  ...mediaOf(message).map(({ name, mimeType }) => `*Attached: ${name} (${mimeType})*`),
  ...((message as AIMessage).tool_calls ?? []).map(
    ({ name, args }) => `*${readableName(name)}:* \`${JSON.stringify(args)}\``,
  ),
]

/** Reads a thread and downloads it as a file. */
export async function exportThread(id: string, title: string, agent: string): Promise<void> {
  // Its messages are JSON here, with the same fields.
  const { values } = await states.getState<{ messages?: readonly BaseMessage[] }>(id)
  download(
    `${fileNameOf(title)}.md`,
    conversationMarkdown(title, agent, values.messages ?? []),
    'text/markdown',
  )
}

const fileNameOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '') || 'conversation'

/** Downloads a text as a file. */
export function download(name: string, text: string, mimeType: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: mimeType }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  // The download starts with the click. Its source can be released in the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}
