/**
 * A page of CopilotKit in Chromium against the routes of `agentwire/ag-ui`, with no runtime between:
 *
 *   node test/ag-ui/copilotkit/run.mjs [version of @copilotkit/react-core]
 *
 * Its packages, some 900 with what they need, are installed into a temporary folder.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as esbuild from 'esbuild'
import { install, ROOT, run } from '../../kit/install.mjs'

const [version = '1.74.0'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'agentwire-copilotkit-'))
try {
  if (!install(folder, { '@copilotkit/react-core': version, react: '^19.0.0', 'react-dom': '^19.0.0' }, {}))
    process.exit(1)
  const page = join(folder, 'page.tsx')
  cpSync(join(ROOT, 'examples/ag-ui/page.tsx'), page)
  const script = join(folder, 'page.js')
  await esbuild.build({
    entryPoints: [page],
    bundle: true,
    outfile: script,
    format: 'iife',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.woff': 'empty', '.woff2': 'empty', '.ttf': 'empty', '.css': 'empty' },
    logLevel: 'error',
  })
  process.exitCode = run(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'test/ag-ui/copilotkit/flows.ts'), script],
    ROOT,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
