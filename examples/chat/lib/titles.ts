import { textOf } from './messages.ts'
import type { Turn } from './turns.ts'

const LONGEST = 60

/**
 * The title of a conversation by its first turn: the heading of the answer, else what was asked. Where another thread has the same title it
 * gets a number, so that no two are called the same. Undefined where there is nothing to tell.
 */
export function titleOf({ question, answer }: Turn, taken: readonly string[]): string | undefined {
  const text = answer
    .filter(({ type }) => type === 'ai')
    .map(textOf)
    .join('\n\n')
  const asked = question ? textOf(question) : ''
  const title = shortened(headingOf(text) ?? asked)
  return title === '' ? undefined : distinct(title, taken)
}

/** The first heading of a Markdown text, without marks. Code has lines that look like one. */
function headingOf(markdown: string): string | undefined {
  const [, heading] = /^ {0,3}#{1,3} +(.+?)[ #]*$/m.exec(markdown.replace(/^```[\s\S]*?^```/gm, '')) ?? []
  return heading?.replace(/[*_`]/g, '')
}

function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ')
  if (line.length <= LONGEST) return line
  const cut = line.slice(0, LONGEST)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), LONGEST / 2)).trimEnd()}…`
}

/** “Coffee (2)” where “Coffee” is taken. */
function distinct(title: string, taken: readonly string[]): string {
  const names = new Set(taken)
  let number = 1
  const name = (): string => (number === 1 ? title : `${title} (${number})`)
  while (names.has(name())) number++
  return name()
}
