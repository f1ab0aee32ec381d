/** The Markdown of answers in the pages of `agentwire create`. What a model says is written by nobody who is trusted. */
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Answer } from '../../../examples/start/page/answer.tsx'

const htmlOf = (text: string): string => renderToStaticMarkup(createElement(Answer, { text }))

test('Markdown is shown as such', () => {
  expect(htmlOf('**Done.**\n\n- one\n- two')).toMatch(
    /<strong>Done\.<\/strong>[\s\S]*<ul>\s*<li>one<\/li>\s*<li>two<\/li>\s*<\/ul>/,
  )
  expect(htmlOf('`a < b`')).toContain('<code>a &lt; b</code>')
  expect(htmlOf('| a | b |\n|---|---|\n| 1 | 2 |')).toContain('<table>')
  expect(htmlOf('[guide](https://example.com/)')).toContain('<a href="https://example.com/">guide</a>')
})

test.each([
  '<script>alert(1)</script>',
  'Hi <img src="x" onerror="alert(1)"> there',
  '<div onclick="alert(1)">\n\n**a**\n\n</div>',
  '<iframe src="https://example.com"></iframe>',
  '<svg><a xlink:href="javascript:alert(1)">a</a></svg>',
  '<style>* { display: none }</style>',
  '- <input autofocus onfocus=alert(1)>',
  '| <b onmouseover=alert(1)>a</b> |\n|---|\n| 1 |',
])('HTML stays text: %s', (text) => {
  const tags = new Set([...htmlOf(text).matchAll(/<(\w+)([^>]*)>/g)].map(([, tag, rest]) => tag! + rest))
  for (const tag of tags)
    expect(tag).toMatch(/^(?:div|p|pre|code|ul|li|strong|table|thead|tbody|tr|t[hd]|a href="[\w:/.%#]*")$/)
})

test.each([
  '[a](javascript:alert(1))',
  '[a](JaVaScRiPt:alert(1))',
  '[a](java\nscript:alert(1))',
  '[a](&#106;avascript:alert(1))',
  '[a](data:text/html;base64,PHNjcmlwdD4=)',
  '[a](vbscript:msgbox(1))',
  '<javascript:alert(1)>',
  '[a][1]\n\n[1]: javascript:alert(1)',
  '![a](javascript:alert(1))',
])('a link cannot run a program: %s', (text) => {
  for (const [, href] of htmlOf(text).matchAll(/ (?:href|src)="([^"]*)"/g))
    expect(href).toMatch(/^(?:$|#|https?:|mailto:)/)
})

test('a picture is a link, so that nothing is loaded', () => {
  const html = htmlOf(
    '![secret](https://example.com/?q=1) and [![x](https://example.com/2)](https://example.com/3)',
  )
  expect(html).not.toContain('<img')
  expect(html).toContain('<a href="https://example.com/?q=1">secret</a>')
})
