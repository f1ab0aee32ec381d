import type { InvalidToolCallBlock, ServerToolCallBlock, ToolCallBlock } from './content.ts'
import { type Fields, isRecord } from './record.ts'

export type Parsed = { readonly args: Fields } | { readonly args: string; readonly error: string }

/**
 * Parses the raw arguments of a tool call. Empty text means no arguments; anything except a JSON object is an
 * error.
 */
export function parseToolArgs(raw: string): Parsed {
  if (raw.trim() === '') return { args: {} }
  try {
    const value: unknown = JSON.parse(raw)
    if (isRecord(value)) return { args: value }
    return { args: raw, error: 'The arguments are not a JSON object.' }
  } catch (error) {
    return { args: raw, error: (error as SyntaxError).message }
  }
}

/** The call with its raw arguments parsed, or an invalid call that keeps them as text. */
export function withRawArgs<Call extends ToolCallBlock | ServerToolCallBlock>(
  call: Call,
  raw: string,
): Call | InvalidToolCallBlock {
  const parsed = parseToolArgs(raw)
  if (!('error' in parsed)) return { ...call, args: parsed.args }
  const { id, name, extras } = call
  const server =
    call.type === 'serverToolCall' ? { extras: { ...extras, server: true } } : extras && { extras }
  const about = { ...(id !== undefined && { id }), ...(name && { name }) }
  return { type: 'invalidToolCall', ...about, ...parsed, ...server }
}
