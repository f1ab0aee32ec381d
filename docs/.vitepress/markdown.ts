import type { MarkdownOptions } from 'vitepress'
import { repositoryUrl } from './package.ts'

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
    md.core.ruler.push('links_of_files', linkFiles)
    md.core.ruler.push('empty_headers_are_cells', renameEmptyHeaders)
    md.core.ruler.push('package_managers', addPackageManagers)
  },
}

type Rule = Parameters<Markdown['core']['ruler']['push']>[1]

/** A README is the index of its folder on the site. Files that are no pages are in the repository, if it is public. */
const linkFiles: Rule = ({ tokens, env }) => {
  for (const { children } of tokens)
    for (const [at, token] of children?.entries() ?? []) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (href === null || /^(?:\w+:|#|\/)/.test(href)) continue
      if (/(?:\.md|\/)(?:#.*)?$/.test(href)) {
        token.attrSet('href', href.replace(/(^|\/)README\.md/, '$1index.md'))
      } else if (repositoryUrl !== undefined) {
        token.attrSet('href', new URL(href, `${repositoryUrl}/blob/HEAD/${env.relativePath}`).href)
      } else {
        token.attrs = null
        for (const tag of [token, children!.find(({ type }, index) => index > at && type === 'link_close')!])
          tag.tag = 'span'
      }
    }
}

/** A header without a text is none. */
const renameEmptyHeaders: Rule = ({ tokens }) => {
  for (const [at, token] of tokens.entries())
    if (token.type === 'th_open' && tokens[at + 1]?.content === '') token.tag = tokens[at + 2]!.tag = 'td'
}

const MANAGERS = [
  { title: 'npm', add: 'npm install' },
  { title: 'pnpm', add: 'pnpm add' },
  { title: 'yarn', add: 'yarn add' },
  { title: 'bun', add: 'bun add' },
]

/** A block that only installs packages gets a tab for each package manager. */
const addPackageManagers: Rule = (state) => {
  state.tokens = state.tokens.flatMap((token) => {
    const isInstall = token.type === 'fence' && /^(?:npm install [^-\n].*\n)+$/.test(token.content)
    if (!isInstall || token.level > 0) return [token]
    const group = (nesting: 1 | -1) => {
      const type = nesting === 1 ? 'container_code-group_open' : 'container_code-group_close'
      return Object.assign(new state.Token(type, 'div', nesting), { block: true })
    }
    const tabs = MANAGERS.map(({ title, add }) =>
      Object.assign(new state.Token('fence', 'code', 0), token, {
        info: `${token.info} [${title}]`,
        content: token.content.replaceAll('npm install', add),
      }),
    )
    return [group(1), ...tabs, group(-1)]
  })
}
