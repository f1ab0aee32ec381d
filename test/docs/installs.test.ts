import { builtinModules } from 'node:module'
import { expect, test } from 'vitest'
import { pages, read } from './fences.ts'

/** Their install lines stand with each part. */
const BY_PART = new Set(['docs/sign-in.md'])
const guides = pages.filter((page) => /^(docs\/[^/]+|README)\.md$/.test(page) && !BY_PART.has(page))

/** `@scope/name` of `@scope/name/entry` or of `@scope/name@1`. */
const packageOf = (text: string): string => /^(?:@[^/]+\/)?[^/@]+/.exec(text)![0]

const namesIn = (page: string): string[] =>
  [...read(page).matchAll(/^```tsx?(?: \[[^\]]+\])?\n(.*?)^```$/gms)]
    .flatMap(([, code]) => [...code!.matchAll(/(?:from |import\(|^import )'([^'.][^']*)'/gm)])
    .map(([, name]) => name!)

const importedBy = (page: string): string[] =>
  namesIn(page)
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))
    .map(packageOf)

const linesOf = (page: string): string[] =>
  [...read(page).matchAll(/npm install (?:--save-dev )?([^`\n]+)/g)].flatMap(([, names]) =>
    names!.replace(/ #.*/, '').split(' '),
  )

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

/** What the entries of the package need beside it: any one of these. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  'agentwire/langgraph': ['@langchain/langgraph', 'langchain', 'deepagents'],
  'agentwire/mcp': ['@modelcontextprotocol/server'],
  'agentwire/opentelemetry': ['@opentelemetry/api'],
  'agentwire/postgres': ['pg'],
  'agentwire/react': ['@langchain/react'],
  'agentwire/redis': ['ioredis', 'redis'],
  'agentwire/sqlite': ['libsql'],
  'agentwire/tracing/langsmith': ['langsmith'],
  'agentwire/tracing/opentelemetry': ['@opentelemetry/api'],
}

test('each page has install lines that bring the peers of the entries that its blocks import', () => {
  const missing = guides.flatMap((page) => {
    const installed = new Set(linesOf(page).map(packageOf))
    const entries = new Set(namesIn(page).filter((name) => Object.hasOwn(PEERS, name)))
    return [...entries].flatMap((name) =>
      PEERS[name]!.some((peer) => installed.has(peer)) ? [] : [`${page}: ${name}`],
    )
  })
  expect(missing).toEqual([])
})

test('what a page says to save is the block below it', () => {
  const said = /^[^\n]*\b[Ss]ave (?:this|it|them) as `[^`]+`[^\n]*:\n\n```sh$/gm
  expect(pages.flatMap((page) => (read(page).match(said) ?? []).map((line) => `${page}: ${line}`))).toEqual(
    [],
  )
})
