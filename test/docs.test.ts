import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const GENERATED = new Set(['node_modules', 'dist', 'reference', '.git', '.next', '.tmp'])

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return GENERATED.has(entry.name) ? [] : filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

const files = filesBelow('.')
const pages = files.filter((path) => path.endsWith('.md'))
const sources = files.filter((path) => /\.[cm]?[jt]sx?$/.test(path))

/** A page without its code blocks, in which nothing is a link or a heading. */
const proseOf = (path: string): string => read(path).replace(/^```.*?^```/gms, '')

/** The comments of a source. A scanner finds them all where no regular expression or template is taken for something else. */
function commentsOf(path: string): string {
  const text = read(path)
  if (!text.includes('.md')) return ''
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  const comments = new Map<number, string>()
  const visit = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ]
    for (const { pos, end } of ranges) comments.set(pos, text.slice(pos, end))
    for (const child of node.getChildren()) visit(child)
  }
  visit(source)
  return [...comments.values()].map((comment) => comment.replace(/\n\s*(\*|\/\/)?/g, ' ')).join('\n')
}

/** What a link into a page may name behind its `#`: its headings as GitHub spells them, and the ids it sets. */
function anchorsOf(path: string): ReadonlySet<string> {
  const text = proseOf(path)
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  )
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!)])
}

const sectionsOf = (path: string): ReadonlySet<string> =>
  new Set([...proseOf(path).matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map(([, number]) => number!))

test('every relative link of a page names a file that exists, and a heading or an id in it', () => {
  const broken = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].flatMap(
      ([link, target, anchor]) => {
        const path = target === '' ? page : relative(root, join(root, dirname(page), target!))
        const found = existsSync(join(root, path)) && (anchor === undefined || anchorsOf(path).has(anchor))
        return found ? [] : [`${page}: ${link}`]
      },
    ),
  )
  expect(broken).toEqual([])
})

test('every page that a comment or a page cites exists, with the sections that are named', () => {
  const texts = [
    ...pages.map((path) => [path, proseOf(path)] as const),
    ...sources.map((path) => [path, commentsOf(path)] as const),
  ]
  const citations = texts.flatMap(([path, text]) =>
    [
      ...text
        .replace(/\s+/g, ' ')
        .matchAll(/(?<![\w/])docs\/[\w./-]+\.md`?(?: §[\d.]*\d(?:(?:,| and|, and) §[\d.]*\d)*)?/g),
    ].map(([citation]) => [path, citation] as const),
  )
  const broken = citations.filter(([, citation]) => {
    const page = /^docs\/[\w./-]+\.md/.exec(citation)![0]
    if (!existsSync(join(root, page))) return true
    const sections = sectionsOf(page)
    return [...citation.matchAll(/§([\d.]*\d)/g)].some(([, number]) => !sections.has(number!))
  })
  expect(broken).toEqual([])
  expect(citations.filter(([, citation]) => citation.includes('§')).length).toBeGreaterThan(3)
})

test('the sections that the protocol names of itself exist, each with its anchor', () => {
  const page = 'docs/protocol.md'
  const sections = sectionsOf(page)
  const named = [...proseOf(page).matchAll(/(?<!\.md[`)]? )§(\d+(?:\.\d+)*)/g)].map(([, number]) => number!)
  expect(named.filter((number) => !sections.has(number))).toEqual([])
  expect([...sections].filter((number) => !anchorsOf(page).has(`s${number}`))).toEqual([])
})

test('docs/architecture.md names only files and folders that exist, and functions that they have', () => {
  const page = read('docs/architecture.md')
  const paths = [...page.matchAll(/(?<![\w/])(?:src|test|adapters|docs)\/[\w./-]*\w/g)].map(([path]) => path)
  expect(paths.length).toBeGreaterThan(60)
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((path) =>
    basename(path),
  )
  const named = [...page.matchAll(/(?<![\w/.-])[\w-]+\.tsx?\b/g)].map(([name]) => name)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !files.includes(name))).toEqual([])
  const [ways = ''] = page.split('## The two storage contracts')
  const hops = [...ways.matchAll(/^\| [^|]+ \| ([^|]+) \| (`[^|]+`) \|$/gm)].map(([, named, functions]) => ({
    text: [...named!.matchAll(/`([^`]+)`/g)].map(([, path]) => read(path!)).join('\n'),
    functions: [...functions!.matchAll(/`(?:\w+\.)?(\w+)`/g)].map(([, name]) => name!),
  }))
  expect(hops.length).toBeGreaterThan(20)
  const missing = hops.flatMap(({ text, functions }) =>
    functions.filter(
      (name) => !new RegExp(`\\b(function|const|interface|type)\\*? ${name}\\b|\\b${name}\\(`).test(text),
    ),
  )
  expect(missing).toEqual([])
})
