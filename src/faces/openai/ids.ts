import { formatUuid, isUuid } from '../../core/ids.ts'

/**
 * What an id of this face names: a response, a conversation, a response item, a call that asks a question, or
 * an approval request. Ids are not stored: they contain their parts, the thread id first, so any instance can
 * resolve them.
 */
export type IdKind = keyof typeof COUNTS

/** The number of parts in the ids of each kind. */
const COUNTS = { resp: 2, conv: 1, msg: 3, rs: 3, fc: 3, call: 2, mcpr: 3 } as const

/** An id with these parts. A UUID is written without hyphens, so that ids stay short. */
export const idOf = (kind: IdKind, ...parts: readonly string[]): string =>
  `${kind}_${parts.map(encode).join('.')}`

/** The parts of an id, or undefined if it is not of this kind. */
export function partsOf(kind: IdKind, id: string): readonly string[] | undefined {
  if (!id.startsWith(`${kind}_`)) return undefined
  const parts = id
    .slice(kind.length + 1)
    .split('.')
    .map(decode)
  const isOurs = parts.length === COUNTS[kind] && parts.every((part) => part !== undefined)
  return isOurs ? (parts as readonly string[]) : undefined
}

const isNumber = (text: string): boolean => /^\d{1,9}$/.test(text)

function encode(part: string): string {
  if (isNumber(part)) return part
  if (isUuid(part) && part === part.toLowerCase()) return part.replaceAll('-', '')
  const bytes = new TextEncoder().encode(part)
  const base64 = btoa(String.fromCharCode(...bytes))
  return `~${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`
}

function decode(part: string): string | undefined {
  if (isNumber(part)) return part
  if (/^[0-9a-f]{32}$/.test(part)) return formatUuid(part)
  if (!/^~[\w-]+$/.test(part)) return undefined
  try {
    const binary = atob(part.slice(1).replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The headers in which UIs send the id of a chat. */
export const CHAT_HEADERS = ['x-openwebui-chat-id', 'x-conversation-id'] as const

/** The headers that name the thread of a chat. */
export const THREAD_HEADERS = ['x-thread-id', ...CHAT_HEADERS] as const
