import type { Token } from 'marked'
import { describe, expect, test } from 'vitest'
import {
  closeMarkdown,
  decodeEntities,
  definitionsOf,
  type MarkdownSource,
  safeHref,
  splitMarkdown,
  tokensOf,
} from '../../examples/chat/lib/markdown.ts'
import { safeImage } from '../../examples/chat/lib/own-media.ts'

const TEXT = `# Title

A **bold** word and a [link][1].

- one
- two

  still two
- three

| a | b |
|---|---|
| 1 | 2 |

\`\`\`ts
const answer = 42

\`\`\`

> A quotation
> of two lines

[1]: https://example.com

1. first

2. second
`

describe('splitting Markdown into blocks', () => {
  test('loses nothing, and gives one block for each heading, paragraph, list, table, code and quotation', () => {
    const { blocks } = splitMarkdown(TEXT)
    expect(blocks.join('')).toBe(TEXT)
    expect(blocks.map((block) => block.split('\n')[0])).toEqual([
      '# Title',
      'A **bold** word and a [link][1].',
      '- one',
      '| a | b |',
      '```ts',
      '> A quotation',
      '[1]: https://example.com',
      '1. first',
    ])
  })

  test('gives the same blocks for a text that grows by one character as for the whole text', () => {
    let known: MarkdownSource | undefined
    for (let end = 1; end <= TEXT.length; end++) known = splitMarkdown(TEXT.slice(0, end), known)
    expect(known?.blocks).toEqual(splitMarkdown(TEXT).blocks)
  })

  test('keeps the finished blocks of a growing text, so that they are not rendered again', () => {
    const before = splitMarkdown(TEXT.slice(0, 120))
    const after = splitMarkdown(TEXT, before)
    expect(after.blocks.slice(0, before.blocks.length - 2)).toEqual(before.blocks.slice(0, -2))
  })

  test('begins anew for another text', () => {
    expect(splitMarkdown('other', splitMarkdown(TEXT)).blocks).toEqual(['other'])
  })

  test('finds the definitions of links, which blocks before them need', () => {
    const source = splitMarkdown(TEXT)
    const [paragraph] = tokensOf(source.blocks[1]!, definitionsOf(source))
    expect(JSON.stringify(paragraph)).toContain('"href":"https://example.com"')
  })

  test('treats a footnote, and a word in brackets, as text and not as a definition', () => {
    const source = splitMarkdown('A fact[^1].\n\n[^1]: The source of it.\n\n[Note]: read this.\n')
    expect(definitionsOf(source)).toBe('')
  })
})

describe('formulas', () => {
  const TEXT =
    'In \\(a_1 + b_1\\) and $$x*y*z$$:\n\n$$\n\\frac{1}{2}\n$$\n\n\\[\na_1\n\\]\n\nIt costs $5 or $6.\n'
  const formulasIn = (token: Token): readonly string[] =>
    token.type === 'math'
      ? [token.text]
      : ((token as { readonly tokens?: readonly Token[] }).tokens ?? []).flatMap(formulasIn)

  test('keep their source, in a line and on lines of their own; amounts of money are text', () => {
    const { blocks } = splitMarkdown(TEXT)
    expect(blocks.map((block) => tokensOf(block, '').flatMap(formulasIn))).toEqual([
      ['a_1 + b_1', 'x*y*z'],
      ['\\frac{1}{2}'],
      ['a_1'],
      [],
    ])
  })

  test('are the same in a text that grows by one character', () => {
    let known: MarkdownSource | undefined
    for (let end = 1; end <= TEXT.length; end++) known = splitMarkdown(TEXT.slice(0, end), known)
    expect(known?.blocks).toEqual(splitMarkdown(TEXT).blocks)
  })
})

describe('closing what a growing block has begun', () => {
  test.each([
    ['some **bold', 'some **bold**'],
    ['some **bo*ld', 'some **bo*ld***'],
    ['some **', 'some '],
    ['some `code **', 'some `code **`'],
    ['a `done` and *it', 'a `done` and *it*'],
    ['see [the page](https://exa', 'see the page'],
    ['see [the pa', 'see the pa'],
    ['see ![the pa](https://', 'see '],
    ['a [done](https://example.com) link', 'a [done](https://example.com) link'],
    ['snake_case_name stays', 'snake_case_name stays'],
    ['2 * 3 = 6', '2 * 3 = 6'],
    ['- an item with **bo', '- an item with **bo**'],
    ['* an item', '* an item'],
    ['A line\n-', 'A line'],
    ['A line\n=', 'A line'],
    ['| a | b', '| a | b\n|---|---|'],
    ['| a | b |\n|--', '| a | b |\n|---|---|'],
    ['```ts\nconst a = `**', '```ts\nconst a = `**'],
    ['so \\(a_1 *', 'so \\(a_1 *\\)'],
    ['so \\(a_1 \\', 'so \\(a_1 \\)'],
    ['so \\(', 'so '],
    ['$$\nx_1', '$$\nx_1$$'],
    ['\\(a_1\\) and *it', '\\(a_1\\) and *it*'],
  ])('%j', (growing, closed) => {
    expect(closeMarkdown(growing)).toBe(closed)
  })
})

test('links may open pages and write letters, and nothing else', () => {
  expect(['https://a.example', 'http://a.example', 'mailto:a@example.com'].map(safeHref)).not.toContain(
    undefined,
  )
  for (const href of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    '//evil.example',
    '/t/1',
    'vbscript:x',
  ])
    expect(safeHref(href)).toBeUndefined()
})

test('images come with the text or from a named origin, so that no address carries data out', () => {
  for (const source of ['data:image/png;base64,AA', 'blob:x']) expect(safeImage(source)).toBe(source)
  const remote = 'https://a.example/a.png?secret'
  expect(safeImage(remote, ['https://a.example'])).toBe(remote)
  expect(safeImage(remote, ['https://b.example'])).toBeUndefined()
  for (const source of [
    remote,
    'http://a.example/a.png',
    '//a.example/a.png',
    'data:text/html,x',
    'javascript:x',
    'file:///etc/passwd',
  ])
    expect(safeImage(source)).toBeUndefined()
})

test('character references are read, unknown and impossible ones stay as they are', () => {
  expect(decodeEntities('a &amp; b &lt;c&gt; &#8217; &#x2014; &unknown; &#x110000; &#0;')).toBe(
    'a & b <c> ’ — &unknown; &#x110000; &#0;',
  )
})
