import type { DefaultTheme } from 'vitepress'

type Options = NonNullable<DefaultTheme.LocalSearchOptions['miniSearch']>['searchOptions']
type Render = NonNullable<DefaultTheme.LocalSearchOptions['_render']>

/** Finds "Resuming a stream" for "resume": the ends of English words do not count. */
export const searchTerms = {
  processTerm: (term: string): string => {
    const word = term.toLowerCase()
    return word.length < 5 ? word : word.replace(/(?:ing|ed|es|e|s)$/, '')
  },
}

/** How pages are found. The browser gets `boostDocument` as text, so it names nothing outside of itself. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 5, text: 1, titles: 3 },
  boostDocument: (id, _term, fields) => {
    const path = String(id)
    const ofKind = (...names: string[]) => names.some((name) => path.startsWith(`/${name}`))
    // A page comes before its sections.
    const kind = (fields?.titles as string[] | undefined)?.length === 0 ? 2 : 1
    if (ofKind('CHANGELOG', 'CONTRIBUTING', 'SECURITY', 'BUNDLED', 'docs/decisions/')) return kind * 0.05
    if (ofKind('docs/audits', 'docs/architecture', 'docs/roadmap', 'docs/benchmarks')) return kind * 0.05
    if (ofKind('reference/', 'docs/protocol')) return kind * 0.15
    if (ofKind('docs/promises', 'docs/durability', 'docs/upgrading', 'docs/#')) return kind * 0.3
    if (ofKind('examples/', 'docs/control-plane', 'docs/migrate')) return kind * 0.3
    if (ofKind('docs/quick-start', 'docs/functions', 'docs/react', 'docs/users', 'docs/durable'))
      return kind * 1.5
    return kind
  },
} satisfies Options

/** Code is found by its words, without its colors. Of the API reference only the members are. */
export const renderForSearch: Render = (source, env, md) => {
  const text = source.replace(/^```\w+.*$/gm, '```')
  const isReference = env.relativePath.startsWith('docs/reference/')
  const html = md.render(isReference ? membersOf(text) : text, env)
  return env.frontmatter?.search === false ? '' : html
}

/** The sections of a page down to its members, without those of their parameters. */
const membersOf = (text: string): string =>
  text
    .split(/^(?=#{1,6} )/m)
    .filter((section) => !/^#{4,6} /.test(section))
    .join('\n')
