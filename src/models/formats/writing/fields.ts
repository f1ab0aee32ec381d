import type {
  Annotation,
  ContentBlock,
  InvalidToolCallBlock,
  MediaBlock,
  ToolCallBlock,
} from '../../../messages/index.ts'

export function dropUndefined(fields: Record<string, unknown>): Record<string, unknown> {
  for (const key in fields) if (fields[key] === undefined) delete fields[key]
  return fields
}

export const nonEmpty = <Item>(items: readonly Item[]): readonly Item[] | undefined =>
  items.length > 0 ? items : undefined

/** The URL of a media block. Base64 becomes a data URL. */
export const urlOf = ({ url, base64, mimeType = '' }: MediaBlock): string | undefined =>
  base64 === undefined ? url : `data:${mimeType};base64,${base64}`

/** The arguments of a call as JSON. Invalid arguments stay as the model wrote them. */
export const argsOf = ({ args }: ToolCallBlock | InvalidToolCallBlock): string =>
  typeof args === 'string' ? args : JSON.stringify(args)

/** A block that the format cannot express: as the provider sent it if known, otherwise in the normal form. */
export const asIs = (block: ContentBlock): unknown => (block.type === 'nonStandard' ? block.value : block)

export function writeCitation(annotation: Annotation): unknown {
  if (annotation.type === 'nonStandard') return annotation.value
  const { url, title, startIndex, endIndex, citedText, extras } = annotation
  const type = extras?.type ?? 'url_citation'
  return dropUndefined({
    ...extras,
    type,
    url,
    [type === 'url_citation' ? 'title' : 'filename']: title,
    start_index: startIndex,
    end_index: endIndex,
    cited_text: citedText,
  })
}
