import { builtinModules } from 'node:module'
import { expect, test } from 'vitest'
import { pages, read } from './fences.ts'

/** Their install lines stand with each part. */
const BY_PART = new Set(['docs/sign-in.md'])
const guides = pages.filter((page) => /^(docs\/[^/]+|README)\.md$/.test(page) && !BY_PART.has(page))

/** `@scope/name` of `@scope/name/entry` or of `@scope/name@1`. */
const packageOf = (text: string): string => /^(?:@[^/]+\/)?[^/@]+/.exec(text)![0]

const importedBy = (page: string): string[] =>
  [...read(page).matchAll(/^```tsx?(?: \[[^\]]+\])?\n(.*?)^```$/gms)]
    .flatMap(([, code]) => [...code!.matchAll(/(?:from |import\(|^import )'([^'.][^']*)'/gm)])
    .map(([, name]) => name!)
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))
    .map(packageOf)

const linesOf = (page: string): string[] =>
  [...read(page).matchAll(/npm install (?:--save-dev )?([^`\n]+)/g)].flatMap(([, names]) => names!.split(' '))

test('each page has install lines that bring every package its blocks import', () => {
  const missing = guides.flatMap((page) => {
    const installed = new Set([...linesOf(page).map(packageOf), 'agentwire'])
    const absent = new Set(importedBy(page).filter((name) => !installed.has(name)))
    return [...absent].map((name) => `${page}: ${name}`)
  })
  expect(missing).toEqual([])
  expect(guides.filter((page) => importedBy(page).length > 0).length).toBeGreaterThan(30)
})

test('no page installs version 2 of the LangGraph SDK, which has no threads.stream', () => {
  const all = pages.flatMap((page) => linesOf(page).map((name) => `${page}: ${name}`))
  expect(all.filter((line) => line.endsWith('@langchain/langgraph-sdk'))).toEqual([])
})
