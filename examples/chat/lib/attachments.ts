import type { Media } from './media.ts'

/** A file that waits to be sent with the next message. */
export interface Attachment extends Media {
  readonly id: string
  readonly bytes: number
}

/** Of all attachments of one message together. The server takes bodies of up to 10 MB, and base64 makes four bytes of three. */
export const MAX_BYTES = 6_000_000

/** Reads files, and says which did not fit. */
export async function readFiles(
  files: readonly File[],
  waiting: readonly Attachment[],
): Promise<{ readonly attachments: readonly Attachment[]; readonly problems: readonly string[] }> {
  const attachments: Attachment[] = []
  const problems: string[] = []
  let total = waiting.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const file of files) {
    if (total + file.size > MAX_BYTES) {
      problems.push(
        `“${file.name}” is too large: all attachments of a message may have ${inWords(MAX_BYTES)}.`,
      )
      continue
    }
    try {
      attachments.push(await readFile(file))
      total += file.size
    } catch {
      problems.push(`“${file.name}” could not be read. Folders cannot be attached.`)
    }
  }
  return { attachments, problems }
}

async function readFile(file: File): Promise<Attachment> {
  const mimeType = file.type || 'application/octet-stream'
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
  return { id: crypto.randomUUID(), kind: kindOf(mimeType), name: file.name, mimeType, url, bytes: file.size }
}

const kindOf = (mimeType: string): Media['kind'] => {
  const [kind = ''] = mimeType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

/** The content of a message: a plain text, or with attachments the standard content blocks of LangChain. */
export function contentOf(text: string, attachments: readonly Media[]) {
  if (attachments.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...attachments.map(({ kind, mimeType, name, url }) => ({
      type: kind,
      mimeType,
      ...(url.startsWith('data:') ? { data: url.slice(url.indexOf(',') + 1) } : { url }),
      metadata: { filename: name },
    })),
  ]
}

export type Content = ReturnType<typeof contentOf>

/** 6000000 as “6.0 MB”. */
export const inWords = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
