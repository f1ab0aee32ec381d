import { jsonFault } from './argument-fields.ts'

/** An answer of which nobody knows the form: JSON where it looks like it, else text. */
export function answerOf(text: string): { readonly answer: unknown; readonly fault?: string } {
  const looksLikeJson = /^\s*(?:[[{"]|(?:true|false|null|-?\d[\d.e+-]*)\s*$)/.test(text)
  if (!looksLikeJson) return { answer: text }
  const fault = jsonFault(text)
  return fault === undefined ? { answer: JSON.parse(text) } : { answer: undefined, fault }
}
