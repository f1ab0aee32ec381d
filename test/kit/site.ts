import { createServer } from 'node:http'
import * as esbuild from 'esbuild'
import type { Page } from 'playwright-core'
import { openServer } from './listen.ts'

/** A page on a port of its own that does nothing but load this script. */
export const openScriptPage = (script: string | Uint8Array): ReturnType<typeof openServer> =>
  openServer(
    createServer((req, res) => {
      const isScript = req.url === '/page.js'
      res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      res.end(
        isScript
          ? script
          : '<!doctype html><link rel="icon" href="data:,"><body><script src="/page.js"></script>',
      )
    }),
  )

/** The script of a page, with everything that it imports. */
export async function bundlePage(
  source: Pick<esbuild.BuildOptions, 'entryPoints' | 'stdin'>,
): Promise<string> {
  const result = await esbuild.build({
    ...source,
    bundle: true,
    write: false,
    format: 'iife',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  })
  return result.outputFiles[0]!.text
}

/** What the page throws or logs as an error, from now on. */
export function problemsOf(page: Page): readonly string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  return problems
}
