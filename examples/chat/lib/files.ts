import type { BaseMessage } from '@langchain/core/messages'
import { type Media, mediaOf } from './media.ts'

/** What a conversation has created or received: a file in the agent's state, or media in a message. */
export type Artifact =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  | { readonly kind: 'media'; readonly name: string; readonly media: Media }

/** The files of a deep agent's state, by name, then the messages' media, newest first. */
export function artifactsOf(files: unknown, messages: readonly BaseMessage[]): readonly Artifact[] {
  const media = messages.flatMap(mediaOf).toReversed()
  return [
    ...textFilesOf(files),
    ...media.map((one): Artifact => ({ kind: 'media', name: one.name, media: one })),
  ]
}

function textFilesOf(files: unknown): readonly Artifact[] {
  if (typeof files !== 'object' || files === null) return []
  return Object.entries(files)
    .flatMap(([path, file]): readonly Artifact[] => {
      const text = textOfFile(file)
      return text === undefined ? [] : [{ kind: 'text', name: path.replace(/^\//, ''), text }]
    })
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** Python's and older deep agents store lines or plain text. */
function textOfFile(file: unknown): string | undefined {
  if (typeof file === 'string') return file
  const { content } = (file ?? {}) as { readonly content?: unknown }
  if (Array.isArray(content)) return content.join('\n')
  return typeof content === 'string' ? content : undefined
}

const LANGUAGES: Readonly<Record<string, string>> = {
  js: 'javascript',
  mjs: 'javascript',
  ts: 'typescript',
  tsx: 'typescript',
  py: 'python',
  sh: 'bash',
  yml: 'yaml',
}

/** How to show a text file: as Markdown, or as code in this language. */
export function languageOf(name: string): string {
  const [, extension = ''] = /\.(\w+)$/.exec(name) ?? []
  return LANGUAGES[extension] ?? extension
}
