import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, { readonly import: string; readonly require: string } | string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

export const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Every entry of the package as a specifier (`agentwire/node`), with its built files. */
export const entries = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === 'string'
    ? []
    : [
        {
          specifier: path.replace(/^\./, manifest.name),
          files: { esm: filesOf(target.import), cjs: filesOf(target.require) },
        },
      ],
)

/** A module, and its declarations, which TypeScript finds beside it. */
function filesOf(file: string) {
  return { default: file, types: file.replace(/\.(c?)js$/, '.d.$1ts') }
}
