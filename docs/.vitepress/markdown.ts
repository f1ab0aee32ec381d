import type { MarkdownOptions } from 'vitepress'

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0]

/** The ids of headings as GitHub makes them, which links between the pages name. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-')

export const markdown: MarkdownOptions = {
  anchor: { slugify },
  // Of the themes of GitHub, those whose comments can be read on the ground of a block.
  theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
  config(md) {
    md.core.ruler.push('readmes_are_indexes', linkReadmes)
    md.core.ruler.push('empty_headers_are_cells', renameEmptyHeaders)
  },
}

type Rule = Parameters<Markdown['core']['ruler']['push']>[1]

/** In the repository a folder has a `README.md`; on the site it has an index. */
const linkReadmes: Rule = ({ tokens }) => {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null
    if (href !== null && !/^\w+:/.test(href))
      token.attrSet('href', href.replace(/(^|\/)README\.md/, '$1index.md'))
  }
}

/** A header without a text is none. */
const renameEmptyHeaders: Rule = ({ tokens }) => {
  for (const [at, token] of tokens.entries())
    if (token.type === 'th_open' && tokens[at + 1]?.content === '') token.tag = tokens[at + 2]!.tag = 'td'
}
