import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from '../src/version.ts'

test('the version in the code is that of the package', () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  expect(VERSION).toBe(JSON.parse(manifest).version)
})
