import type { MarkedToken, Token, Tokens } from 'marked'
import { Fragment } from 'react'
import type { MathToken } from '../../lib/math.ts'
import { Code } from './code.tsx'
import { Inlines } from './inlines.tsx'

interface BlocksProps {
  readonly tokens: readonly Token[]
  readonly isGrowing: boolean
}

export const Blocks = ({ tokens, isGrowing }: BlocksProps) =>
  tokens.map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no names, and keep their places.
    <Fragment key={at}>{block(token as MarkedToken | MathToken, isGrowing)}</Fragment>
  ))

/**
 * The direction of a text follows its first letter. `dir="auto"`, which does the same for lists, quotations and
 * tables, would not see the text of parts that have it, too.
 */
const OWN_DIRECTION = '[unicode-bidi:plaintext]'

const SIZES = ['text-2xl', 'text-xl', 'text-lg', 'text-base', 'text-base', 'text-base']

function block(token: MarkedToken | MathToken, isGrowing: boolean) {
  switch (token.type) {
    case 'heading': {
      // Its text has not arrived yet.
      if (token.text === '') return null
      // The page's own heading is the h1.
      const Heading = `h${Math.min(token.depth + 1, 6)}` as 'h2'
      return (
        <Heading className={`mt-2 wrap-anywhere ${OWN_DIRECTION} font-semibold ${SIZES[token.depth - 1]}`}>
          <Inlines tokens={token.tokens} />
        </Heading>
      )
    }
    case 'paragraph':
      return (
        <p className={`wrap-anywhere ${OWN_DIRECTION}`}>
          <Inlines tokens={token.tokens} />
        </p>
      )
    case 'text':
      return <Inlines tokens={token.tokens ?? [token]} />
    case 'list':
      return <List list={token} isGrowing={isGrowing} />
    case 'table':
      return <Table table={token} />
    case 'code':
      return <Code code={token.text} language={token.lang} isGrowing={isGrowing} />
    case 'math':
      return <Code code={token.text} language="latex" isGrowing={isGrowing} />
    case 'blockquote':
      return (
        <blockquote dir="auto" className="flex flex-col gap-3 border-line border-s-4 ps-4 text-faint">
          <Blocks tokens={token.tokens} isGrowing={isGrowing} />
        </blockquote>
      )
    case 'hr':
      return <hr className="my-2" />
    case 'html':
      return <p className="wrap-anywhere whitespace-pre-wrap">{token.text.trim()}</p>
    case 'space':
    case 'def':
      return null
    default:
      // Content of a tight list item without a paragraph, such as its checkbox.
      return <Inlines tokens={[token]} />
  }
}

function List({ list, isGrowing }: { readonly list: Tokens.List; readonly isGrowing: boolean }) {
  const items = list.items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: an item keeps its place.
    <li key={at} className={item.task ? 'list-none' : list.loose ? 'space-y-2' : ''}>
      <Blocks tokens={item.tokens} isGrowing={isGrowing} />
    </li>
  ))
  const style = 'flex flex-col gap-1 ps-6 wrap-anywhere marker:text-faint [li>&]:mt-1'
  return list.ordered ? (
    <ol dir="auto" start={list.start || undefined} className={`list-decimal ${style}`}>
      {items}
    </ol>
  ) : (
    <ul dir="auto" className={`list-disc ${style}`}>
      {items}
    </ul>
  )
}

/** The least width of a column with long texts, in characters. Wider tables scroll. */
const LEAST_WIDTH = 14

function Table({ table: { header, rows } }: { readonly table: Tokens.Table }) {
  const widths = header.map((_, at) =>
    Math.min(LEAST_WIDTH, Math.max(...rows.map((row) => row[at]?.text.length ?? 0))),
  )
  const cell = (Cell: 'th' | 'td', { tokens, align }: Tokens.TableCell, at: number) => (
    <Cell
      key={at}
      className={`px-3 py-2 align-top ${OWN_DIRECTION}`}
      style={{ textAlign: align ?? 'start', minWidth: `${widths[at]}ch` }}
    >
      <Inlines tokens={tokens} />
    </Cell>
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard.
    <section aria-label="Table" tabIndex={0} className="overflow-x-auto rounded-lg border border-line">
      <table dir="auto" className="w-full text-sm">
        <thead className="bg-panel">
          <tr>{header.map((one, at) => cell('th', one, at))}</tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row keeps its place.
            <tr key={at}>{row.map((one, column) => cell('td', one, column))}</tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
