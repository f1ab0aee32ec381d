import type {
  Annotation,
  ContentBlock,
  FinishReason,
  InvalidToolCallBlock,
  MediaBlock,
  Message,
  ToolCallBlock,
} from '../../messages/index.ts'

/** The fields that say something. */
export function present(fields: Record<string, unknown>): Record<string, unknown> {
  for (const key in fields) if (fields[key] === undefined) delete fields[key]
  return fields
}

/** A list, if there is anything in it. */
export const some = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length > 0 ? items : undefined

/** Where a medium is, as one URL. */
export const urlOf = ({ url, base64, mimeType = '' }: MediaBlock): string | undefined =>
  base64 === undefined ? url : `data:${mimeType};base64,${base64}`

/** The arguments of a call as JSON text; those that are none, as the model wrote them. */
export const argsOf = ({ args }: ToolCallBlock | InvalidToolCallBlock): string =>
  typeof args === 'string' ? args : JSON.stringify(args)

/** A block that a shape has no place for: as it came if that is known, in the normal form otherwise. */
export const asIs = (block: ContentBlock): unknown => (block.type === 'nonStandard' ? block.value : block)

const REASONS: readonly FinishReason[] = [
  'stop',
  'length',
  'toolCalls',
  'contentFilter',
  'pause',
  'error',
  'other',
]

/** The finish reason in a provider's words, which stand in the order `stop length toolCalls contentFilter pause error other`. */
export const finishWord = ({ finishReason }: Message, words: string): string | null =>
  finishReason ? words.split(' ')[REASONS.indexOf(finishReason)]! : null

/** An annotation in OpenAI's spelling. */
export function writeCitation(annotation: Annotation): unknown {
  if (annotation.type === 'nonStandard') return annotation.value
  const { url, title, startIndex, endIndex, citedText, extras } = annotation
  const type = extras?.type ?? 'url_citation'
  return present({
    ...extras,
    type,
    url,
    [type === 'url_citation' ? 'title' : 'filename']: title,
    start_index: startIndex,
    end_index: endIndex,
    cited_text: citedText,
  })
}
