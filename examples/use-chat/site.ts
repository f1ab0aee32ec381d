/** The page as a face of the server: one document with its script. */
import { fileURLToPath } from 'node:url'
import { createFace, type FaceSetup, route } from 'agentwire/face'
import { build } from 'esbuild'

const DOCUMENT = `<!doctype html>
<meta charset="utf-8">
<title>useChat</title>
<link rel="icon" href="data:,">
<style>
  body { font: 16px/1.5 system-ui; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }
  article[data-role=user] { font-weight: 600 }
  form { display: flex; gap: .5rem; margin-top: 1rem }
  input { flex: 1 }
</style>
<body><script type="module" src="/page.js"></script>`

export async function openSite() {
  const entryPoint = fileURLToPath(new URL('page.tsx', import.meta.url))
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const serve = (type: string, text: string) => async () =>
    new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } })
  return (setup: FaceSetup) =>
    createFace(setup, {
      routes: [
        route('GET', '/', { permission: 'public', run: serve('text/html', DOCUMENT) }),
        route('GET', '/page.js', {
          permission: 'public',
          run: serve('text/javascript', outputFiles[0]!.text),
        }),
      ],
    })
}
