import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A text of a source file, and what a fault puts in its place. */
export interface Patch {
  readonly file: string
  readonly text: string
  readonly by: string
}

/** The program of simulated processes as one script, with `patches` in it. */
export async function compileProgram(patches: readonly Patch[] = []): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'test/simulation/program.ts')],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    packages: 'external',
    // Modules that are loaded on demand are there at once, and take no turn of the real event loop.
    supported: { 'dynamic-import': false },
    write: false,
    logLevel: 'error',
    plugins: patches.length > 0 ? [patching(patches)] : [],
  })
  return outputFiles[0]!.text
}

/** Replaces texts while files are loaded. A text that is not there exactly once is an error, so that no fault is lost with a change. */
function patching(patches: readonly Patch[]): Plugin {
  return {
    name: 'patches',
    setup({ onLoad, onEnd }) {
      const done = new Set<Patch>()
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const own = patches.filter(({ file }) => join(ROOT, file) === path)
        if (own.length === 0) return undefined
        let contents = await readFile(path, 'utf8')
        for (const patch of own) {
          const { file, text, by } = patch
          const parts = contents.split(text)
          if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${text}`)
          contents = parts.join(by)
          done.add(patch)
        }
        return { contents, loader: 'ts' }
      })
      onEnd(() => {
        const missing = patches.find((patch) => !done.has(patch))
        if (missing) throw new Error(`${missing.file} is not part of the program.`)
      })
    },
  }
}
