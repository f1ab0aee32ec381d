import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SITE } from './serve.ts'

const LINK = /\]\((?!\w+:|#)([^)\s#]+\.md)(?:#[^)\s]*)?\)/g

/** The pages of the built site without their Markdown, and the links of `llms.txt` and of Markdown that lead to none. */
export function missingMarkdown(): string[] {
  const files = readdirSync(SITE, { recursive: true, encoding: 'utf8' })
  const without = files
    .filter((path) => path.endsWith('.html') && path !== '404.html')
    .map((path) => path.replace(/\.html$/, '.md'))
    .filter((path) => !existsSync(join(SITE, path)))
  const dead = files
    .filter((path) => path.endsWith('.md') || path === 'llms.txt')
    .flatMap((path) => {
      const base = new URL(path, 'http://site/')
      const text = readFileSync(join(SITE, path), 'utf8').replace(/^```.*?^```/gms, '')
      return [...text.matchAll(LINK)]
        .map(([, target]) => new URL(target!, base).pathname)
        .filter((target) => !existsSync(join(SITE, target)))
        .map((target) => `${path}: ${target}`)
    })
  const listed = readFileSync(join(SITE, 'llms.txt'), 'utf8')
  const unlisted = files
    .filter((path) => /^docs\/[^/]+\.md$/.test(path) && !listed.includes(`/${path})`))
    .map((path) => `llms.txt: ${path} is missing`)
  return [...without, ...dead, ...unlisted]
}
