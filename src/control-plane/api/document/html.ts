/** Markup, in which every text was escaped. */
export interface Html {
  readonly html: string
}

type Part = Html | string | number | undefined | readonly Html[]

/** A template whose values are escaped, but for those that are markup themselves. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: texts.reduce((before, text, index) => before + write(parts[index - 1]) + text) }
}

/** Markup that stands as it is in our own code. */
export const raw = (text: string): Html => ({ html: text })

function write(part: Part): string {
  if (part === undefined) return ''
  if (typeof part !== 'object') return escaped(String(part))
  return 'html' in part ? part.html : part.map(({ html }) => html).join('')
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
