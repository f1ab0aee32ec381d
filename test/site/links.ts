import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileOf, SITE } from './serve.ts'

/** The links and images of the built site that lead nowhere: to no file, or to no element of a page. */
export function deadLinks(): string[] {
  const pages = readdirSync(SITE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .map((path) => join(SITE, path))
  const texts = new Map(pages.map((page) => [page, readFileSync(page, 'utf8')]))
  const ids = new Map([...texts].map(([page, text]) => [page, idsOf(text)]))
  return [...texts].flatMap(([page, text]) => {
    const base = new URL(relative(SITE, page).replace(/(^|\/)index\.html$|\.html$/, '$1'), 'http://site/')
    return targetsOf(text, base).flatMap((target) => {
      const file = fileOf(decodeURI(target.pathname))
      const anchor = decodeURIComponent(target.hash.slice(1))
      const isFound = file !== undefined && (anchor === '' || ids.get(file)?.has(anchor) !== false)
      return isFound ? [] : [`${base.pathname}: ${target.pathname}${target.hash}`]
    })
  })
}

const idsOf = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/<[^>]* id="([^"]+)"/g)].map(([, id]) => id!))

/** The URLs on the site itself. */
const targetsOf = (html: string, base: URL): URL[] =>
  [...new Set([...html.matchAll(/<(?:a|img)[^>]* (?:href|src)="([^"]+)"/g)].map(([, url]) => url!))]
    .map((url) => new URL(url.replaceAll('&amp;', '&'), base))
    .filter(({ host }) => host === base.host)
