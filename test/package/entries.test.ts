import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { fileOf } from '../../.ci/entries.mjs'
import { entries, manifest, root } from './package.ts'

interface Probe {
  readonly entries: Readonly<
    Record<string, { readonly esm: readonly string[]; readonly cjs: readonly string[] }>
  >
  readonly errors: readonly {
    readonly name: string
    readonly brand: string | null
    readonly separate: boolean
    readonly crossed: boolean
    readonly strangers: boolean
  }[]
  readonly crossedEngine: number
}

let probe: Probe

beforeAll(() => {
  const script = join(root, 'test/package/probe.mjs')
  const specifiers = entries.map(({ specifier }) => specifier)
  probe = JSON.parse(execFileSync(process.execPath, [script, ...specifiers], { cwd: root, encoding: 'utf8' }))
})

describe.each(entries)('$specifier', ({ specifier }) => {
  test('imports as ESM and requires as CJS, with the same names', () => {
    expect(probe.entries[specifier]?.esm.length).toBeGreaterThan(0)
    expect(probe.entries[specifier]?.cjs).toEqual(probe.entries[specifier]?.esm)
  })
})

test('nothing is a default export', () => {
  expect(Object.values(probe.entries).flatMap(({ esm }) => esm)).not.toContain('default')
})

test('tsconfig.json has the source of every entry, whose files in dist are named after it', () => {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  expect(Object.keys(compilerOptions.paths).sort()).toEqual(entries.map(({ specifier }) => specifier).sort())
  for (const { specifier, files } of entries) {
    expect(files.esm.default).toBe(`./dist/${fileOf(specifier)}.js`)
    expect(files.cjs.default).toBe(`./dist/${fileOf(specifier)}.cjs`)
  }
})

test('every name the README imports is exported', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const imports = [...readme.matchAll(/import \{([^}]+)\} from '(agentwire[^']*)'/g)]
  expect(imports.length).toBeGreaterThan(0)
  const missing = imports.flatMap(([, names, specifier]) =>
    names!
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .filter((name) => !probe.entries[specifier!]?.esm.includes(name))
      .map((name) => `${specifier}: ${name}`),
  )
  expect(missing).toEqual([])
})

test('an engine of one copy of the package is served by a face of the other', () => {
  expect(probe.crossedEngine).toBe(200)
})

test('an error of one copy of the package is an instance of the class of the other', () => {
  expect(probe.errors.map(({ name }) => name)).toContain('AgentwireError')
  for (const error of probe.errors)
    expect(error).toEqual({
      name: error.name,
      brand: error.name,
      separate: true,
      crossed: true,
      strangers: false,
    })
})

test('every peer is optional', () => {
  const optional = Object.entries(manifest.peerDependenciesMeta).filter(([, meta]) => meta.optional)
  expect(optional.map(([name]) => name)).toEqual(Object.keys(manifest.peerDependencies))
})
