/** The page as one document. In development it is compiled when the server starts, otherwise by `npm run build`. */
import { readFileSync } from 'node:fs'

if (process.env.NODE_ENV === 'development') {
  const { build } = await import('esbuild')
  await build({ entryPoints: ['page/main.tsx'], bundle: true, outdir: 'dist/page' })
}
const textOf = (name: string) => readFileSync(`dist/page/${name}`, 'utf8')

export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Assistant</title>
<style>${textOf('main.css')}</style>
<div id="page"></div>
<script type="module">${textOf('main.js')}</script>
</html>`
