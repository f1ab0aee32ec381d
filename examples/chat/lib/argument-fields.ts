/** A tool call's argument as a form field. */
export interface ArgumentField {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'json'
  /** The user's input. A boolean is `true` or `false`. */
  readonly text: string
}

export type Arguments = Readonly<Record<string, unknown>>

export const fieldsOf = (args: Arguments): readonly ArgumentField[] =>
  Object.entries(args).map(([name, value]) => {
    const kind = kindOf(value)
    return { name, kind, text: kind === 'json' ? JSON.stringify(value, null, 2) : String(value) }
  })

function kindOf(value: unknown): ArgumentField['kind'] {
  if (typeof value === 'string') return 'text'
  return typeof value === 'number' || typeof value === 'boolean'
    ? (typeof value as 'number' | 'boolean')
    : 'json'
}

/** The error message of a field. Undefined if the field is valid. */
export function faultOf({ kind, text }: ArgumentField): string | undefined {
  if (kind === 'number' && (text.trim() === '' || !Number.isFinite(Number(text)))) return 'Write a number.'
  return kind === 'json' ? jsonFault(text) : undefined
}

export function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `This is not JSON: ${(error as SyntaxError).message}`
  }
}

/** The arguments of valid fields. */
export const argumentsOf = (fields: readonly ArgumentField[]): Arguments =>
  Object.fromEntries(fields.map((field) => [field.name, parsed(field)]))

function parsed({ kind, text }: ArgumentField): unknown {
  if (kind === 'text') return text
  return kind === 'number' ? Number(text) : JSON.parse(text)
}
