import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sidebar } from '../../docs/.vitepress/sidebar.ts'
import { root } from '../package/package.ts'
import { pages } from './fences.ts'

const linksOf = (items: typeof sidebar): string[] =>
  items.flatMap(({ link, items = [] }) => [...(link === undefined ? [] : [link]), ...linksOf(items)])

test('every guide is in the sidebar, which gives it a previous and a next page', () => {
  const guides = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md')
  const links = linksOf(sidebar)
  expect(guides.length).toBeGreaterThan(30)
  expect(guides.filter((page) => !links.includes(`/${page.replace('.md', '')}`))).toEqual([])
  expect(links.length).toBe(new Set(links).size)
})

test('the five pages of Getting started come first in the sidebar', () => {
  const [first] = sidebar
  expect(first!.text).toBe('Getting started')
  expect(first!.items!.map(({ text }) => text)).toEqual([
    'Quick start',
    'Agents',
    'React',
    'Authentication',
    'Persistence',
  ])
  for (const { link } of first!.items!) expect(existsSync(join(root, `${link}.md`))).toBe(true)
})
