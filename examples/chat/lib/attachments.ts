import type { UploadProblem } from 'agentwire/react'

/**
 * The limit for all attachments of one message together. The server accepts bodies of up to 10 MB, and base64
 * turns three bytes into four.
 */
export const MAX_BYTES = 6_000_000

/** Why a file was not attached. */
export const problemOf = ({ name, reason }: UploadProblem): string =>
  reason === 'size'
    ? `“${name}” is too large: all attachments of a message may have ${inWords(MAX_BYTES)}.`
    : `“${name}” could not be read. Folders cannot be attached.`

/** 6000000 as “6.0 MB”. */
export const inWords = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
