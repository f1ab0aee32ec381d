import { expect, test } from 'vitest'
import { clientsOf, shownClients } from '../../docs/.vitepress/clients.ts'
import { groups } from '../../docs/.vitepress/entries.mjs'
import { figuresOf } from '../../docs/.vitepress/figures.ts'
import { descriptionOf } from '../../docs/.vitepress/head.ts'
import { pages, read } from './fences.ts'

const manifest: {
  exports: Readonly<Record<string, string | object>>
  devDependencies: Readonly<Record<string, string>>
} = JSON.parse(read('package.json'))

/** The packages that tests are run with: `openai7` is `npm:openai@7.57.0`. */
const tested = Object.entries(manifest.devDependencies).map(([name, range]) => {
  const alias = /^npm:(.+)@(.+)$/.exec(range)
  return { name: alias?.[1] ?? name, version: alias?.[2] ?? range }
})

const partsOf = (version: string): number[] => version.split('.').map(Number)

/** Compares as many parts as the second one has. */
function compare(version: string, other: string): number {
  const parts = partsOf(version)
  const at = partsOf(other).findIndex((part, index) => part !== parts[index])
  return at < 0 ? 0 : parts[at]! - partsOf(other)[at]!
}

/** Whether what the page says, `0.3.6 to 0.3.14, 1.0.1 and newer`, has a version among it. */
const says = (versions: string, version: string): boolean =>
  versions.split(', ').some((range) => {
    const [first, last] = [...range.matchAll(/\d+(?:\.\d+)*/g)].map(([number]) => number)
    if (first === undefined) return false
    if (/newer|\.x/.test(range)) return compare(version, first) >= 0
    return compare(version, first) >= 0 && compare(version, last ?? first) <= 0
  })

test('docs/clients.md names each version of a client that the tests are run with', () => {
  const rows = clientsOf(read('docs/clients.md')).filter(({ versions }) => /\d/.test(versions))
  const checked = rows.flatMap(({ name, versions }) => {
    const client = name.split('`').at(-2)
    return tested.filter((one) => one.name === client).map(({ version }) => ({ name, version, versions }))
  })
  expect(checked.length).toBeGreaterThan(12)
  expect(checked.filter(({ version, versions }) => !says(versions, version))).toEqual([])
})

test('the landing page has versions for each of its clients', () => {
  const shown = shownClients(read('docs/clients.md'))
  expect(shown.length).toBeGreaterThan(8)
  for (const { versions } of shown) expect(versions).toMatch(/^\d/)
})

test('the landing page compares with the figures of docs/benchmarks.md, and in the direction that it says', () => {
  const page = read('docs/benchmarks.md')
  for (const { ours, theirs, times, label } of figuresOf(page)) {
    expect(page).toContain(`| ${ours} | ${theirs} |`)
    expect(times).toMatch(label.startsWith('of the ') ? /^1\/\d/ : /^\d+ times$/)
  }
})

test('the README has the clients and the figures of the landing page', () => {
  const readme = read('README.md')
  for (const { label, name, versions } of shownClients(read('docs/clients.md')))
    expect(readme).toContain(`| ${label}, \`${name}\` | ${versions} |`)
  for (const { label, times, ours, theirs } of figuresOf(read('docs/benchmarks.md')))
    expect(readme).toContain(`| **${times}** ${label} | ${ours} | ${theirs}, `)
})

test('the API reference lists each entry of the package', () => {
  const entries = Object.entries(manifest.exports).filter(([, target]) => typeof target === 'object')
  expect(groups.flatMap((group) => group.entries.map(({ path }) => path)).toSorted()).toEqual(
    entries.map(([path]) => path).toSorted(),
  )
})

test('every guide begins with sentences that describe it in a search result', () => {
  const guides = pages.filter((page) => page.startsWith('docs/') && !page.startsWith('docs/site/'))
  const described = guides.map((page) => ({ page, description: descriptionOf(page) }))
  expect(described.length).toBeGreaterThan(30)
  expect(described.filter(({ description }) => !/^\S.{30,159}[.?…]$/.test(description))).toEqual([])
  expect(new Set(described.map(({ description }) => description)).size).toBe(described.length)
  expect(descriptionOf('docs/quick-start.md')).toMatch(/^A server and a client in two files, /)
})
