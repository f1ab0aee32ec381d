import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Conditions {
  readonly types: string
  readonly default: string
}

interface Manifest {
  readonly name: string
  readonly exports: Readonly<
    Record<string, { readonly import: Conditions; readonly require: Conditions } | string>
  >
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
    : [{ specifier: path.replace(/^\./, manifest.name), files: { esm: target.import, cjs: target.require } }],
)
