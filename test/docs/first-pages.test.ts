/** The pages of Getting started, which people read in their first hour. */
import { expect, test } from 'vitest'
import { read } from './fences.ts'

const PAGES = ['quick-start', 'functions', 'react', 'users', 'durable'].map((name) => `docs/${name}.md`)

test('they are the five pages that the index calls Getting started', () => {
  const listed = [...read('docs/README.md').matchAll(/^\| \d\. \[[^\]]+\]\(([\w-]+\.md)\)/gm)]
  expect(listed.map(([, page]) => `docs/${page}`)).toEqual(PAGES)
})

test.each(PAGES)('%s has at most 100 lines', (page) => {
  expect(read(page).trimEnd().split('\n').length).toBeLessThanOrEqual(100)
})

test.each(PAGES)('the first block of %s needs no key and no database', (page) => {
  const text = read(page)
  const [whole] = /^```tsx?\n.*?^```$/ms.exec(text)!
  expect(text.slice(0, text.indexOf(whole) + whole.length)).not.toMatch(
    /_API_KEY|_URL\b(?! \?\?|=file:)|new (?:OpenAI|Anthropic)\(/,
  )
})
