import { readFileSync } from 'node:fs'

const folder = new URL('page/', import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

const files = new Map(
  ['index.html', 'style.css', 'app.js', 'conversation.js', 'protocol.js', 'view.js'].map((name) => [
    name === 'index.html' ? '/' : `/${name}`,
    { text: readFileSync(new URL(name, folder), 'utf8'), type: TYPES[name.split('.').at(-1)!]! },
  ]),
)

/** Serves the page, what the page must know of the demo (`/demo.json`), and `/ok`. Gives undefined for any other path. */
export function site(demo: unknown): (request: Request) => Response | undefined {
  return ({ method, url }) => {
    if (method !== 'GET' && method !== 'HEAD') return undefined
    const { pathname } = new URL(url)
    if (pathname === '/ok') return Response.json({ ok: true })
    if (pathname === '/demo.json') return Response.json(demo)
    const file = files.get(pathname)
    return (
      file && new Response(file.text, { headers: { 'content-type': file.type, 'cache-control': 'no-cache' } })
    )
  }
}
