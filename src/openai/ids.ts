import { formatUuid, isUuid } from '../ids.ts'

/**
 * What an id of this face names: a response, a conversation, an item of a response, a call that asks a question, or a request for approval.
 * Nothing is kept of an id. Its parts are in it, the thread first, so that what it names is found on any instance.
 */
export type IdKind = keyof typeof COUNTS

/** How many parts the ids of each kind have. */
const COUNTS = { resp: 2, conv: 1, msg: 3, rs: 3, fc: 3, call: 2, mcpr: 3 } as const

/** An id with these parts. A UUID becomes its digits, so that ids stay short. */
export const idOf = (kind: IdKind, ...parts: readonly string[]): string =>
  `${kind}_${parts.map(encode).join('.')}`

/** The parts of an id, or undefined where it is none of this kind. */
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
