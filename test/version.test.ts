import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from '../src/core/version.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

test('the version in the code is that of the package', () => {
  expect(VERSION).toBe(manifest.version)
})

test('npm builds what it packs', () => {
  expect(manifest.scripts.prepack).toBe('node .ci/built.mjs')
})
