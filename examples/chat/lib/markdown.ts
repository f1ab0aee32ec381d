import { Lexer, type Token } from 'marked'
import { MATH } from './math.ts'

/** A Markdown text, split into its top-level blocks, as source. */
export interface MarkdownSource {
  readonly text: string
  readonly blocks: readonly string[]
}

/**
 * How many blocks at the end may still change while a text streams: the last one may turn out to continue the
 * one before it.
 */
const OPEN_BLOCKS = 2

/**
 * Splits a text into blocks. `before` is the result for an earlier text. If the new text continues it, only
 * its last two blocks are parsed again, so that a token costs the same in a long answer as in a short one.
 */
export function splitMarkdown(text: string, before?: MarkdownSource): MarkdownSource {
  const finished = before && text.startsWith(before.text) ? before.blocks.slice(0, -OPEN_BLOCKS) : []
  const start = finished.reduce((length, block) => length + block.length, 0)
  const blocks = [...finished]
  for (const { type, raw } of blocksOf(text.slice(start))) {
    // Empty lines belong to the previous block.
    if (type === 'space' && blocks.length > finished.length) blocks.push(blocks.pop() + raw)
    else blocks.push(raw)
  }
  return { text, blocks }
}

/** The text's link references, such as `[1]: https://example.com`, which its other blocks need. */
export const definitionsOf = ({ blocks }: MarkdownSource): string => blocks.filter(isDefinition).join('')

/** A footnote, such as `[^1]: Its text`, starts alike, but is a paragraph. */
const isDefinition = (block: string): boolean =>
  /^ {0,3}\[[^\]]+\]:/.test(block) && blocksOf(block)[0]?.type === 'def'

const blocksOf = (text: string): readonly Token[] => new Lexer(MATH.defaults).blockTokens(text)

/** The tokens of one block, and of the definitions that it may refer to. */
export const tokensOf = (block: string, definitions: string): readonly Token[] =>
  MATH.lexer(`${block}\n\n${definitions}`)

/**
 * Closes what the last block of a streaming text has opened, so that its look does not change when the rest
 * arrives.
 */
export function closeMarkdown(block: string): string {
  if (/^ {0,3}(```|~~~)/.test(block)) return block
  // A single line of `-` or `=` would turn the line above it into a heading.
  const text = block.replace(/\n {0,3}(-{1,2}|=+)$/, '')
  if (/^\|[^\n]*(\n[|\s:-]*)?$/.test(text)) return closeTableHead(text)
  return closeInline(text)
}

function closeTableHead(text: string): string {
  const [head = ''] = text.split('\n')
  const columns = head.replace(/^\||\|\s*$/g, '').split('|').length
  return `${head}\n|${'---|'.repeat(columns)}`
}

function closeInline(text: string): string {
  // Marks inside code and formulas are text.
  const outside = text.replace(
    /(`+)(?:(?!\1)[\s\S])*\1|\$\$[\s\S]+?\$\$|\\\[[\s\S]+?\\\]|\\\(.+?\\\)/g,
    (code) => ' '.repeat(code.length),
  )
  const tick = outside.match(/`+/)
  if (tick) return text + tick[0]
  const formula = /\$\$|\\[[(]/.exec(outside)
  if (formula) return closeFormula(text, formula.index)
  const link = /!?\[([^\][]*)(\]\([^)]*)?$/.exec(outside)
  if (link) {
    const shown = text.slice(0, link.index)
    // A link's text is shown immediately, and its address when it is complete.
    return closeMarks(link[0].startsWith('!') ? shown : shown + text.slice(link.index + 1).split('](')[0])
  }
  return closeMarks(text, outside)
}

const FORMULA_ENDS: Readonly<Record<string, string>> = { $$: '$$', '\\[': '\\]', '\\(': '\\)' }

function closeFormula(text: string, start: number): string {
  const content = text.slice(start + 2)
  // The end itself may have half arrived.
  const known = content.replace(/[$\\]$/, '')
  if (known.trim() === '') return text.slice(0, start)
  return text.slice(0, start + 2) + known + FORMULA_ENDS[text.slice(start, start + 2)]
}

function closeMarks(text: string, outside = text): string {
  const open: string[] = []
  for (const [mark] of outside
    .replace(/(^|\s)[*+-]+(?=\s)/gm, '')
    .matchAll(/\*\*|~~|(?<![\s\w])_|_(?!\w)|\*/g))
    if (open.at(-1) === mark) open.pop()
    else open.push(mark)
  if (open.length === 0) return text
  // A mark at the very end has nothing to mark yet.
  const last = open.at(-1)!
  if (text.endsWith(last)) return closeMarks(text.slice(0, -last.length))
  return text.trimEnd() + open.reverse().join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  times: '×',
  rarr: '→',
}

/**
 * Decodes the character references that answers use, such as `&amp;` and `&#8217;`. Others stay unchanged.
 */
export const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

/** A link's address, or undefined if a click on it could do more than open a page or write a mail. */
export const safeHref = (href: string): string | undefined =>
  /^(https?:\/\/|mailto:)/i.test(href) ? href : undefined
