import type { MediaBlock } from '../messages/index.ts'

/** Media as Markdown, because answers of both protocols are text. Undefined for a file without an address. */
export function markdownOf({ type, url, base64, mimeType }: MediaBlock): string | undefined {
  const source = url ?? (base64 && `data:${mimeType ?? 'application/octet-stream'};base64,${base64}`)
  if (!source) return undefined
  return type === 'image' ? `![image](${source})` : `[${type}](${source})`
}
