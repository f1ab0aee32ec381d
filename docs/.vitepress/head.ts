import type { HeadConfig } from 'vitepress'
import { homepage, read } from './package.ts'

/** The length that search engines show. */
const LONGEST = 160

/** The first sentences of a page, as plain text. */
export function descriptionOf(path: string): string {
  const paragraph = read(path)
    .replace(/^---\n.*?^---$/ms, '')
    .replace(/^```.*?^```$/gms, '')
    .split(/\n{2,}/)
    .find((block) => /^[*\w`]/.test(block) && !/^\w+:/.test(block))
  const text = plain(paragraph ?? '')
  if (text.length <= LONGEST) return text
  const sentences = text.slice(0, LONGEST + 1).match(/^.*[.?](?= )/)?.[0]
  return sentences ?? `${text.slice(0, text.lastIndexOf(' ', LONGEST - 1))}…`
}

const plain = (markdown: string): string =>
  markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .replace(/ Save (?:this|it) as .*$/, '')
    .replace(/:$/, '.')
    .trim()

/** The tags of a page for search engines and for cards of links. */
export function headOf(relativePath: string, title: string, description: string): HeadConfig[] {
  const property = (name: string, content: string): HeadConfig => ['meta', { property: name, content }]
  const tags = [
    property('og:type', 'website'),
    property('og:site_name', 'agentwire'),
    property('og:title', title),
    property('og:description', description),
  ]
  if (homepage === undefined || relativePath === '404.md') return tags
  const { href } = new URL(relativePath.replace(/(^|\/)index\.md$|\.md$/, '$1'), homepage)
  return [
    ...tags,
    property('og:url', href),
    property('og:image', new URL('card.png', homepage).href),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
    ['link', { rel: 'canonical', href }],
  ]
}
