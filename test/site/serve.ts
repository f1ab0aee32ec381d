import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Listening, openServer } from '../kit/listen.ts'

/** Where `vitepress build docs` writes. */
export const SITE = fileURLToPath(new URL('../../docs/.vitepress/dist', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** The file of a path, as a host with clean URLs finds it. */
export function fileOf(path: string): string | undefined {
  const file = join(SITE, path)
  return [file, `${file}.html`, join(file, 'index.html')].find(
    (candidate) => existsSync(candidate) && statSync(candidate).isFile(),
  )
}

/** Serves the built site. */
export const serveSite = (): Promise<Listening> =>
  openServer(
    createServer((request, response) => {
      const found = fileOf(decodeURI(new URL(request.url ?? '/', 'http://site').pathname))
      const file = found ?? join(SITE, '404.html')
      response.statusCode = found === undefined ? 404 : 200
      response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream')
      response.end(readFileSync(file))
    }),
  )
