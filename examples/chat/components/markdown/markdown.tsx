import { memo, useRef } from 'react'
import {
  closeMarkdown,
  definitionsOf,
  type MarkdownSource,
  splitMarkdown,
  tokensOf,
} from '../../lib/markdown.ts'
import { Blocks } from './blocks.tsx'

interface MarkdownProps {
  readonly text: string
  /** Whether the text is still streaming. */
  readonly isGrowing: boolean
}

/**
 * Markdown as React elements: no HTML of the text reaches the page. While a text streams, only its last
 * blocks render again.
 */
export function Markdown({ text, isGrowing }: MarkdownProps) {
  const known = useRef<MarkdownSource>(undefined)
  const source = splitMarkdown(text, known.current)
  known.current = source
  const definitions = definitionsOf(source)
  const last = source.blocks.length - 1
  return (
    <div className="flex min-w-0 flex-col gap-3 leading-relaxed">
      {source.blocks.map((block, at) => (
        <Block
          // biome-ignore lint/suspicious/noArrayIndexKey: a block keeps its place.
          key={at}
          source={block}
          definitions={definitions}
          isGrowing={isGrowing && at === last}
        />
      ))}
    </div>
  )
}

interface BlockProps {
  readonly source: string
  readonly definitions: string
  readonly isGrowing: boolean
}

const Block = memo(({ source, definitions, isGrowing }: BlockProps) => (
  <Blocks tokens={tokensOf(isGrowing ? closeMarkdown(source) : source, definitions)} isGrowing={isGrowing} />
))
