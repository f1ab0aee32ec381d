import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import type { CompiledChat } from '../src/cli/demo/page/compiled.ts'
import { lazy } from '../src/core/lazy.ts'
import type { CompiledPage } from '../src/ops/devtools/page/compiled.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DEVTOOLS = `${ROOT}src/ops/devtools/page/`
const CHAT = `${ROOT}src/cli/demo/page/`

/** The modules whose exports the compiled pages take the place of. A build loads them twice. */
const MODULES: readonly (readonly [module: RegExp, text: () => Promise<string>])[] = [
  [
    /\/src\/ops\/devtools\/page\/compiled\.ts$/,
    lazy(async () => `export const PAGE = ${JSON.stringify(await compile())}`),
  ],
  [
    /\/src\/cli\/demo\/page\/compiled\.ts$/,
    lazy(async () => `export const CHAT = ${JSON.stringify(await compileChat())}`),
  ],
]

/** Compiles the pages of the devtools and the demo where a build or a test loads them, so that no generated file is kept. */
export const pages = {
  name: 'pages',
  load: async (id: string) => MODULES.find(([module]) => module.test(id))?.[1](),
}

/**
 * The devtools: one document that includes its script and its style, so it needs no other request. The script that
 * computes graph layouts, a third of all code, is loaded when a graph is opened.
 */
export async function compile(): Promise<CompiledPage> {
  const layout = await bundle(`${DEVTOOLS}model/graph-layout.ts`, {
    format: 'iife',
    globalName: 'agentwireLayout',
  })
  return { ...(await documentOf(DEVTOOLS)), layout: { script: layout, hash: hashOf(layout) } }
}

/** The chat of `agentwire demo`, in the same form. */
export const compileChat = (): Promise<CompiledChat> => documentOf(CHAT, chatScript)

async function documentOf(
  folder: string,
  script?: BuildOptions,
): Promise<Pick<CompiledPage, 'html' | 'scriptHash' | 'styleHash'>> {
  const [code, style] = await Promise.all([
    bundle(`${folder}main.tsx`, { format: 'esm', ...script }),
    bundle(`${folder}style.css`),
  ])
  const html = readFileSync(`${folder}page.html`, 'utf8')
    // As functions, because a script may have what a replacement would take for a pattern.
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script type="module">${code}</script>`)
  return { html, scriptHash: hashOf(code), styleHash: hashOf(style) }
}

async function bundle(entry: string, options?: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    target: 'es2022',
    ...options,
    write: false,
  })
  // The end of the element must not stand in the text.
  return outputFiles![0]!.text.trim().replaceAll('</script', '<\\/script')
}

/** As a Content-Security-Policy names what may run (CSP3 §2.3.1). */
const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`

const OWN = 'resolved from the root'

/** Without what LangChain's messages import and no page uses: runnables, their tracing, and LangSmith's client. A third of the page. */
const SDK_OF_PAGES: Plugin = {
  name: 'sdk-of-pages',
  setup({ onResolve, onLoad, resolve }) {
    // There is one copy of the SDK: that of `@langchain/react` loses tokens of an answer.
    onResolve({ filter: /^@langchain\/langgraph-sdk(\/|$)/ }, ({ path, kind, pluginData }) =>
      pluginData === OWN ? undefined : resolve(path, { kind, resolveDir: ROOT, pluginData: OWN }),
    )
    onResolve({ filter: /^langsmith(\/|$)|^\.\/transformers\.js$/ }, ({ path }) => ({
      path,
      namespace: 'not-in-pages',
    }))
    onLoad({ filter: /./, namespace: 'not-in-pages' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/** The script of the chat: the hooks of `agentwire/react` over Preact, which is a seventh of React. */
export const chatScript: BuildOptions = {
  entryPoints: [`${CHAT}main.tsx`],
  format: 'esm',
  bundle: true,
  minify: true,
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  alias: {
    react: 'preact/compat',
    'react-dom/client': 'preact/compat/client',
    'react/jsx-runtime': 'preact/jsx-runtime',
  },
  plugins: [SDK_OF_PAGES],
}
