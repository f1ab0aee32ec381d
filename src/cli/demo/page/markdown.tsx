import { Lexer, type MarkedToken, type Token } from 'marked'
import { Fragment, memo } from 'react'

/** Markdown as elements: no HTML of the text reaches the page. */
export const Markdown = memo(({ text }: { readonly text: string }) => <Tokens tokens={Lexer.lex(text)} />)

const Tokens = ({ tokens }: { readonly tokens: readonly Token[] | undefined }) =>
  (tokens ?? []).map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no names, and keep their places.
    <Fragment key={at}>{elementOf(token as MarkedToken)}</Fragment>
  ))

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** marked escapes the text of some tokens, as for HTML. */
const decoded = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ENTITIES[name]!)

const TAGS = { paragraph: 'p', strong: 'strong', em: 'em', del: 'del', blockquote: 'blockquote' } as const

function elementOf(token: MarkedToken) {
  switch (token.type) {
    case 'paragraph':
    case 'strong':
    case 'em':
    case 'del':
    case 'blockquote':
      return within(TAGS[token.type], token.tokens)
    case 'heading':
      return within(`h${Math.min(token.depth + 1, 6)}` as 'h2', token.tokens)
    case 'text':
      return token.type === 'text' && token.tokens ? <Tokens tokens={token.tokens} /> : decoded(token.text)
    case 'codespan':
      return <code>{token.text}</code>
    case 'code':
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      )
    case 'br':
      return <br />
    case 'hr':
      return <hr />
    case 'list': {
      const List = token.ordered ? 'ol' : 'ul'
      return (
        <List start={token.start === '' ? undefined : token.start}>
          {token.items.map((item, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the items of a list keep their places.
            <li key={at}>
              <Tokens tokens={item.tokens} />
            </li>
          ))}
        </List>
      )
    }
    case 'table':
      return <Table header={token.header} rows={token.rows} />
    case 'link':
      return <Link href={token.href} tokens={token.tokens} />
    case 'escape':
    case 'image':
    case 'html':
      return decoded(token.text)
    default:
      return null
  }
}

const within = (Tag: (typeof TAGS)[keyof typeof TAGS] | 'h2', tokens: readonly Token[]) => (
  <Tag>
    <Tokens tokens={tokens} />
  </Tag>
)

const Link = ({ href, tokens }: { readonly href: string; readonly tokens: readonly Token[] }) =>
  /^(https?:|mailto:)/i.test(href) ? (
    <a href={href} target="_blank" rel="noreferrer">
      <Tokens tokens={tokens} />
    </a>
  ) : (
    <Tokens tokens={tokens} />
  )

type Cells = RowProps['cells']

const Table = ({ header, rows }: { readonly header: Cells; readonly rows: readonly Cells[] }) => (
  <table>
    <thead>
      <Row cells={header} />
    </thead>
    <tbody>
      {rows.map((cells, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a table keep their places.
        <Row key={at} cells={cells} />
      ))}
    </tbody>
  </table>
)

interface RowProps {
  readonly cells: readonly { readonly tokens: readonly Token[]; readonly header: boolean }[]
}

const Row = ({ cells }: RowProps) => (
  <tr>
    {cells.map(({ tokens, header }, at) => {
      const Cell = header ? 'th' : 'td'
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a row keep their places.
        <Cell key={at}>
          <Tokens tokens={tokens} />
        </Cell>
      )
    })}
  </tr>
)
