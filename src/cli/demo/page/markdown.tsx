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

function elementOf(token: MarkedToken) {
  switch (token.type) {
    case 'heading': {
      const Heading = `h${Math.min(token.depth + 1, 6)}` as 'h2'
      return (
        <Heading>
          <Tokens tokens={token.tokens} />
        </Heading>
      )
    }
    case 'paragraph':
      return (
        <p>
          <Tokens tokens={token.tokens} />
        </p>
      )
    case 'text':
      return token.type === 'text' && token.tokens ? <Tokens tokens={token.tokens} /> : decoded(token.text)
    case 'strong':
      return (
        <strong>
          <Tokens tokens={token.tokens} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <Tokens tokens={token.tokens} />
        </em>
      )
    case 'del':
      return (
        <del>
          <Tokens tokens={token.tokens} />
        </del>
      )
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
    case 'blockquote':
      return (
        <blockquote>
          <Tokens tokens={token.tokens} />
        </blockquote>
      )
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
      return (
        <table>
          <thead>
            <Row cells={token.header} />
          </thead>
          <tbody>
            {token.rows.map((cells, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a table keep their places.
              <Row key={at} cells={cells} />
            ))}
          </tbody>
        </table>
      )
    case 'link':
      return /^(https?:|mailto:)/i.test(token.href) ? (
        <a href={token.href} target="_blank" rel="noreferrer">
          <Tokens tokens={token.tokens} />
        </a>
      ) : (
        <Tokens tokens={token.tokens} />
      )
    case 'escape':
    case 'image':
    case 'html':
      return decoded(token.text)
    default:
      return null
  }
}

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
