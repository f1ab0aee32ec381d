import { jsonFault } from './argument-fields.ts'

/** An answer of unknown form: JSON if it looks like JSON, otherwise text. */
export function answerOf(text: string): { readonly answer: unknown; readonly fault?: string } {
  const looksLikeJson = /^\s*(?:[[{"]|(?:true|false|null|-?\d[\d.e+-]*)\s*$)/.test(text)
  if (!looksLikeJson) return { answer: text }
  const fault = jsonFault(text)
  return fault === undefined ? { answer: JSON.parse(text) } : { answer: undefined, fault }
}
