// Plugin of typedoc: the pages of the API reference as this site has them.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Converter, ReflectionKind } from 'typedoc'
import { MarkdownPageEvent } from 'typedoc-plugin-markdown'
import { groups, importPath } from './entries.mjs'

/** @param {string} path */
const read = (path) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

/** @type {Record<string, string | { import: string }>} */
const exported = JSON.parse(read('package.json')).exports

/** The entries by the name of their declarations: `tracing-sse` is `./tracing/sse`. */
const entryOf = new Map(
  Object.entries(exported).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [[target.import.replace(/^\.\/dist\/|\.js$/g, ''), path]],
  ),
)

/** The static members of each error, by which `instanceof` works across builds. */
const ofErrors = new Set(['[hasInstance]', 'brand'])

/** @param {string} guide */
const linkTo = (guide) => `[${/^# (.+)$/m.exec(read(`docs/${guide}.md`))?.[1]}](/docs/${guide})`

/**
 * What a page says above its members.
 * @param {string} title
 */
function introductionOf(title) {
  const entry = groups.flatMap(({ entries }) => entries).find(({ path }) => importPath(path) === title)
  if (entry === undefined) throw new Error(`docs/.vitepress/entries.mjs has no entry for ${title}.`)
  return `${entry.purpose} Guide: ${linkTo(entry.guide)}.`
}

/** The pages that a comment cites are links; `<a id>` of a table's row has no text, so it is no link for a keyboard. */
const pageOf = (/** @type {string} */ contents) =>
  contents
    .split(/(^```.*?^```$)/ms)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part
            .replace(/(?<![`\w/[(])docs\/([\w/-]+)\.md(?: §([\d.]*\d))?/g, (_, page, section) =>
              section === undefined
                ? `[docs/${page}.md](/docs/${page})`
                : `[docs/${page}.md §${section}](/docs/${page}#s${section})`,
            )
            .replace(/^\*\*\*\n\n/gm, '')
            .replace(/^#{4,6} (?:Inherited from|Overrides)\n\n.+\n\n?/gm, ''),
    )
    .join('')

const index = () =>
  [
    '# API reference',
    'Everything that the package exports, by import path. Each page is made from the types that npm installs.',
    ...groups.flatMap(({ text, entries }) => [
      `## ${text}`,
      [
        '| Import | Purpose |',
        '| :-- | :-- |',
        ...entries.map(
          ({ path, purpose }) => `| [\`${importPath(path)}\`](${importPath(path)}.md) | ${purpose} |`,
        ),
      ].join('\n'),
    ]),
  ].join('\n\n')

/** @param {import('typedoc-plugin-markdown').MarkdownApplication} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) module.name = importPath(entryOf.get(module.name) ?? '')
    for (const member of project.getReflectionsByKind(ReflectionKind.ClassMember))
      if (ofErrors.has(member.name)) project.removeReflection(member)
    for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter))
      if (parameter.name === '__namedParameters') parameter.name = 'options'
  })
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    const { name } = page.model
    const contents =
      page.model === page.project
        ? index()
        : pageOf(page.contents).replace(/^# .+$/m, (heading) => `${heading}\n\n${introductionOf(name)}`)
    page.contents = `---\npageClass: reference\n---\n\n${contents}`
  })
}
