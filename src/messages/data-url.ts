/**
 * Splits a base64 `data:` URL (RFC 2397). Undefined for any other value, also for a `data:` URL with plain
 * text. Takes time linear in the length of the part before the first comma: clients choose these URLs.
 */
export function splitDataUrl(
  url: unknown,
): { readonly mimeType: string | undefined; readonly base64: string } | undefined {
  if (typeof url !== 'string' || url.slice(0, 5).toLowerCase() !== 'data:') return undefined
  const comma = url.indexOf(',')
  const mark = comma - MARK.length
  if (mark < 5 || url.slice(mark, comma).toLowerCase() !== MARK) return undefined
  const end = url.indexOf(';')
  return { mimeType: url.slice(5, end) || undefined, base64: url.slice(comma + 1) }
}

const MARK = ';base64'
