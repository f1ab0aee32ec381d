import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import type { CompiledPage } from './src/devtools/page/compiled.ts'

const FOLDER = fileURLToPath(new URL('./src/devtools/page/', import.meta.url))
/** The module whose export the compiled page takes the place of. */
const MODULE = /\/src\/devtools\/page\/compiled\.ts$/

/** Compiles the page of the devtools where a build or a test loads it, so that no generated file is kept. */
export const devtoolsPage = {
  esbuild: {
    name: 'devtools-page',
    setup: ({ onLoad }) => onLoad({ filter: MODULE }, async () => ({ contents: await moduleText() })),
  } satisfies Plugin,
  vite: {
    name: 'devtools-page',
    load: async (id: string) => (MODULE.test(id) ? moduleText() : undefined),
  },
}

async function moduleText(): Promise<string> {
  return `export const PAGE = ${JSON.stringify(await compile())}`
}

/**
 * One document that includes its script and its style, so it needs no other request. The script that computes graph
 * layouts, a third of all code, is loaded when a graph is opened.
 */
export async function compile(): Promise<CompiledPage> {
  const [script, style, layout] = await Promise.all([
    bundle('main.tsx', { format: 'esm' }),
    bundle('style.css'),
    bundle('model/graph-layout.ts', { format: 'iife', globalName: 'agentwireLayout' }),
  ])
  const html = readFileSync(`${FOLDER}page.html`, 'utf8')
    // As functions, because a script may have what a replacement would take for a pattern.
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script type="module">${script}</script>`)
  return {
    html,
    scriptHash: hashOf(script),
    styleHash: hashOf(style),
    layout: { script: layout, hash: hashOf(layout) },
  }
}

async function bundle(entry: string, options?: Pick<BuildOptions, 'format' | 'globalName'>): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`${FOLDER}${entry}`],
    bundle: true,
    minify: true,
    target: 'es2022',
    write: false,
    ...options,
  })
  // The end of the element must not stand in the text.
  return outputFiles[0]!.text.trim().replaceAll('</script', '<\\/script')
}

/** As a Content-Security-Policy names what may run (CSP3 §2.3.1). */
const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`
