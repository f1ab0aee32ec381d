import type { MediaBlock } from '../../messages/index.ts'

/** Media as Markdown, because answers of both protocols are text. Undefined for a file without an address. */
export function markdownOf({ type, url, base64, mimeType, extras }: MediaBlock): string | undefined {
  const source = url ?? (base64 && `data:${mimeType ?? 'application/octet-stream'};base64,${base64}`)
  if (!source) return undefined
  const name = typeof extras?.filename === 'string' ? extras.filename.replace(/[[\]\\]/g, '\\$&') : type
  return type === 'image' ? `![${name}](${source})` : `[${name}](${source})`
}
