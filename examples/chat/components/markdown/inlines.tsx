import type { MarkedToken, Token } from 'marked'
import { Fragment } from 'react'
import { decodeEntities, safeHref } from '../../lib/markdown.ts'
import type { MathToken } from '../../lib/math.ts'
import { safeImage } from '../../lib/own-media.ts'
import { Picture } from '../ui/picture.tsx'

export const Inlines = ({ tokens }: { readonly tokens: readonly Token[] }) =>
  tokens.map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no names, and keep their places.
    <Fragment key={at}>{inline(token as MarkedToken | MathToken)}</Fragment>
  ))

function inline(token: MarkedToken | MathToken) {
  switch (token.type) {
    case 'text':
      return token.tokens ? <Inlines tokens={token.tokens} /> : decodeEntities(token.text)
    case 'strong':
      return (
        <strong className="font-semibold">
          <Inlines tokens={token.tokens} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <Inlines tokens={token.tokens} />
        </em>
      )
    case 'del':
      return (
        <del>
          <Inlines tokens={token.tokens} />
        </del>
      )
    case 'codespan':
    case 'math':
      return (
        <code className="wrap-anywhere rounded bg-hover px-1 py-0.5 font-mono text-[0.9em] [font-variant-ligatures:none]">
          {token.text}
        </code>
      )
    case 'br':
      return <br />
    case 'checkbox':
      return (
        <input
          type="checkbox"
          checked={token.checked}
          disabled
          aria-label={token.checked ? 'Done' : 'Not done'}
          className="me-2 -ms-5 align-middle accent-brand"
        />
      )
    case 'link': {
      const href = safeHref(token.href)
      if (href === undefined) return <Inlines tokens={token.tokens} />
      return (
        <a
          href={href}
          title={token.title ?? undefined}
          target="_blank"
          rel="noopener noreferrer"
          className="text-brand underline underline-offset-2"
        >
          <Inlines tokens={token.tokens} />
        </a>
      )
    }
    case 'image': {
      const source = safeImage(token.href)
      const href = safeHref(token.href)
      if (source === undefined && href !== undefined)
        return (
          <a
            href={href}
            target="_blank"
            rel="noopener noreferrer"
            className="text-brand underline underline-offset-2"
          >
            {token.text || 'Image'}
          </a>
        )
      if (source === undefined) return token.text
      return <Picture src={source} alt={token.text} className="max-h-96 max-w-full rounded-lg" />
    }
    case 'escape':
      return token.text
    case 'html':
      // Cells of tables have no other way to start a line.
      return /^<br *\/?>$/i.test(token.raw) ? <br /> : token.raw
    default:
      // HTML and everything else is shown as source text.
      return token.raw
  }
}
