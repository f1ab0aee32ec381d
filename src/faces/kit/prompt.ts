const PROMPTS = ['question', 'prompt', 'message', 'text', 'description']

/** The question of an interrupt as text: one of its text fields, otherwise its JSON. */
export function promptText(value: unknown): string {
  if (typeof value === 'string') return value
  const fields = Object(value) as Readonly<Record<string, unknown>>
  const words = PROMPTS.map((key) => fields[key]).find((text) => typeof text === 'string' && text !== '')
  return typeof words === 'string' ? words : JSON.stringify(value ?? null)
}
