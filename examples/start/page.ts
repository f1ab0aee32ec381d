/** The page as one document. It is compiled when the server starts. */
import { build } from 'esbuild'

const { outputFiles } = await build({
  entryPoints: ['page/main.tsx'],
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  jsx: 'automatic',
  outdir: 'page',
  define: { 'process.env.NODE_ENV': '"production"' },
})
const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text

export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Assistant</title>
<style>${textOf('.css')}</style>
<div id="page"></div>
<script type="module">${textOf('.js')}</script>
</html>`
