import { PAGES } from './pages.ts'

export interface Finding {
  readonly title: string
  readonly file: string
  /** The best matching paragraph. */
  readonly excerpt: string
}

interface Paragraph extends Finding {
  readonly words: ReadonlySet<string>
  readonly titleWords: ReadonlySet<string>
}

const COMMON = new Set(
  'a about an and are can do does explain find for from give how i in is it look me of on or please research search tell that the then they this to up use used was what when where which who why with work works you your also compute calculate much many solve'.split(
    ' ',
  ),
)

const paragraphs: readonly Paragraph[] = Object.entries(PAGES).flatMap(([file, page]) => {
  const [heading = '', ...rest] = page.split(/\n{2,}/)
  const title = heading.replace(/^#\s*/, '')
  return rest.map((paragraph) => {
    const excerpt = paragraph.replaceAll('\n', ' ')
    return { title, file, excerpt, words: new Set(stems(excerpt)), titleWords: new Set(stems(title)) }
  })
})

/** The best paragraph of each bundled page that shares a word with the query, best page first. */
export function searchLibrary(query: string, limit = 3): Finding[] {
  const wanted = [...new Set(stems(query))]
  const scored = paragraphs
    .map((paragraph) => ({ paragraph, score: score(paragraph, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  const best = new Map<string, Finding>()
  for (const { paragraph } of scored) {
    const { title, file, excerpt } = paragraph
    if (!best.has(file)) best.set(file, { title, file, excerpt })
  }
  return [...best.values()].slice(0, limit)
}

/** A word in the title weighs more than one in the text. */
function score({ words, titleWords }: Paragraph, wanted: readonly string[]): number {
  return wanted.reduce((sum, word) => sum + (titleWords.has(word) ? 3 : 0) + (words.has(word) ? 1 : 0), 0)
}

/** The significant words of a text, in lower case and without a plural s. */
export function stems(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z][a-z0-9]+/g) ?? []
  return words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?<=[a-z]{3})s$/, ''))
}
