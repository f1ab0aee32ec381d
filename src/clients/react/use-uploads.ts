import { useState } from 'react'
import { isServer } from './on-server.ts'
import { contentOf, readUploads, type Upload, type UploadBlock, type UploadProblem } from './uploads.ts'

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
