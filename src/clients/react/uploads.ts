import { useState } from 'react'
import { isServer, uniqueId } from './environment.ts'

/** A file to send with the next message. */
export interface Upload {
  readonly id: string
  readonly kind: 'image' | 'audio' | 'video' | 'file'
  readonly name: string
  readonly mimeType: string
  /** The file's bytes, as a data URL. */
  readonly url: string
  readonly bytes: number
}

/**
 * A file that was rejected: `size` if all files together would exceed the limit, `unreadable` for a folder.
 */
export interface UploadProblem {
  readonly name: string
  readonly reason: 'size' | 'unreadable'
}

/** A content block in LangChain's format, which every provider accepts. */
export type UploadBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: Upload['kind']
      readonly mimeType: string
      readonly metadata: { readonly filename: string }
      readonly data?: string
      readonly url?: string
    }

/** Reads files one after another, as long as their total size is at most `maxBytes`. */
export async function readUploads(
  files: readonly File[],
  waiting: readonly Upload[],
  maxBytes: number,
): Promise<{ readonly uploads: readonly Upload[]; readonly problems: readonly UploadProblem[] }> {
  const uploads: Upload[] = []
  const problems: UploadProblem[] = []
  let total = waiting.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const file of files) {
    const { name } = file
    if (total + file.size > maxBytes) {
      problems.push({ name, reason: 'size' })
      continue
    }
    const url = await dataUrlOf(file)
    if (url === undefined) problems.push({ name, reason: 'unreadable' })
    else {
      const mimeType = file.type || 'application/octet-stream'
      uploads.push({ id: uniqueId(), kind: kindOf(mimeType), name, mimeType, url, bytes: file.size })
      total += file.size
    }
  }
  return { uploads, problems }
}

const dataUrlOf = (file: File): Promise<string | undefined> =>
  new Promise((resolve) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => resolve(undefined)
    reader.readAsDataURL(file)
  })

const kindOf = (mimeType: string): Upload['kind'] => {
  const [kind = ''] = mimeType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

/**
 * The content of a message: a string, or content blocks if there are files. A file with an address instead of
 * bytes is sent by its address.
 */
export function contentOf(
  text: string,
  uploads: readonly Omit<Upload, 'id' | 'bytes'>[],
): string | readonly UploadBlock[] {
  if (uploads.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...uploads.map(({ kind, mimeType, name, url }) => ({
      type: kind,
      mimeType,
      ...(url.startsWith('data:') ? { data: url.slice(url.indexOf(',') + 1) } : { url }),
      metadata: { filename: name },
    })),
  ]
}

export interface UseUploads {
  readonly uploads: readonly Upload[]
  /** Returns the rejected files. */
  add(files: readonly File[]): Promise<readonly UploadProblem[]>
  remove(id: string): void
  clear(): void
  /** The content of a message with this text and all files. */
  contentOf(text: string): string | readonly UploadBlock[]
}

export interface UploadOptions {
  /**
   * The limit for all files of a message together, in bytes. Base64 turns three bytes into four. Default:
   * 3,000,000.
   */
  readonly maxBytes?: number
}

/** The files to send with the next message. */
export const useUploads: (options?: UploadOptions) => UseUploads = isServer
  ? uploadsOnServer
  : useUploadsOnPage

function uploadsOnServer(): UseUploads {
  return { uploads: [], add: async () => [], remove: () => {}, clear: () => {}, contentOf: (text) => text }
}

function useUploadsOnPage({ maxBytes = 3_000_000 }: UploadOptions = {}): UseUploads {
  const [uploads, setUploads] = useState<readonly Upload[]>([])
  return {
    uploads,
    add: async (files) => {
      const read = await readUploads(files, uploads, maxBytes)
      setUploads((before) => [...before, ...read.uploads])
      return read.problems
    },
    remove: (id) => setUploads((before) => before.filter((one) => one.id !== id)),
    clear: () => setUploads([]),
    contentOf: (text) => contentOf(text, uploads),
  }
}
