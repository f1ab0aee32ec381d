import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { asText, FOLDER, placeOf, registryFile, registryItems } from './registry.ts'

const items = registryItems()

test('the registry has the parts, and nothing else', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(items.map(({ name }) => `${name}.json`).sort())
})

describe.each(items)('$name', (item) => {
  test('is written from the chat as it is: npx tsx test/chat/registry.ts', () => {
    expect(readFileSync(registryFile(item.name), 'utf8')).toBe(asText(item))
  })

  test('has all files and packages that it imports, and the colours that it names', () => {
    const places = new Set(item.files.map(({ path }) => placeOf(path).replace(/\.tsx?$/, '')))
    const packages = item.dependencies.map((one) => one.slice(0, one.lastIndexOf('@')))
    for (const { path, content } of item.files) {
      for (const [, specifier] of content.matchAll(/(?:from |import\(|import )'([^']+)'/g))
        if (specifier!.startsWith('.')) expect(places).toContain(join(dirname(placeOf(path)), specifier!))
        else expect(['react', 'react-dom', ...packages]).toContain(packageOf(specifier!))
    }
    const { theme, light, dark } = item.cssVars
    expect(Object.keys(theme).map((name) => name.replace('color-', ''))).toEqual(Object.keys(light))
    expect(Object.keys(dark)).toEqual(Object.keys(light))
    expect(item.dependencies.join()).not.toContain('undefined')
    // The library is for its server: no part needs it.
    expect(packages).not.toContain('agentwire')
    // Tokens of shadcn's own, which other components of a project use.
    expect(Object.keys(light).filter((name) => SHADCN.includes(name))).toEqual([])
  })
})

const SHADCN = [
  'background',
  'foreground',
  'accent',
  'primary',
  'secondary',
  'muted',
  'border',
  'input',
  'ring',
  'card',
]

const packageOf = (specifier: string): string =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
