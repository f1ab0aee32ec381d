import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { descriptionOf } from './head.ts'
import { homepage, read } from './package.ts'

/** A page of the site: its file in the repository, and the file that the site has of it. */
export interface Page {
  readonly source: string
  readonly path: string
}

type Items = readonly DefaultTheme.SidebarItem[]

/** Where the Markdown of a link of the sidebar is: that of a folder is its `index.md`. */
const markdownOf = (link: string): string => `${link.slice(1)}${link.endsWith('/') ? 'index' : ''}.md`

const leavesOf = (items: Items): Items =>
  items.flatMap((item) => [...(item.link === undefined ? [] : [item]), ...leavesOf(item.items ?? [])])

/** `llms.txt` (llmstxt.org): the pages of the sidebar as Markdown, with the first sentences of each. */
export function llmsText(summary: string, groups: Items, pages: readonly Page[]): string {
  const sources = new Map(pages.map(({ source, path }) => [path, source]))
  const line = ({ text, link }: DefaultTheme.SidebarItem): string => {
    const path = markdownOf(link!)
    const description = descriptionOf(sources.get(path)!)
    return `- [${text}](${homepage ?? '/'}${path})${description === '' ? '' : `: ${description}`}`
  }
  const sections = groups.map(({ text, items = [] }) => {
    // The API reference is built by another command.
    const listed = leavesOf(items).filter(({ link }) => sources.has(markdownOf(link!)))
    return `## ${text}\n\n${listed.map(line).join('\n')}\n`
  })
  return [`# agentwire\n\n> ${summary}\n`, ...sections].join('\n')
}

/** A page as the site serves it as Markdown: a README is the index of its folder, and marks are for tests. */
export const plainPage = (markdown: string): string =>
  markdown
    .replace(/^<!-- snippet: \S+ -->\n/gm, '')
    .replace(/(\]\((?!\w+:)[^)\s]*?)README\.md/g, '$1index.md')

/** Writes `llms.txt` and each page beside the pages of the site. */
export function writeMarkdown(folder: string, summary: string, groups: Items, pages: readonly Page[]): void {
  for (const { source, path } of pages) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), plainPage(read(source)))
  }
  writeFileSync(join(folder, 'llms.txt'), llmsText(summary, groups, pages))
}
