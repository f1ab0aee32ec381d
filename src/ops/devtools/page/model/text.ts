/** Times, sizes and ids as people read them. */

export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}

/** How long ago, in one unit. */
export function agoText(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h ago`
  return `${Math.floor(seconds / 86_400)} days ago`
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const kib = bytes / 1_024
  return kib < 1_024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1_024).toFixed(1)} MiB`
}

/** With milliseconds, because the steps of a run are short. */
export function clockText(at: number): string {
  const time = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`
}

/** The end of an id, which differs most. */
export const shortId = (id: string): string => (id.length > 14 ? `…${id.slice(-8)}` : id)

/** `tools:5b1f…` without most of the task's id. */
export const shortSegment = (segment: string): string => segment.replace(/:(.{8})[^:]+$/, ':$1')

/** US dollars, with the digits that tell small amounts apart. */
export function costText(dollars: number): string {
  if (dollars === 0 || dollars >= 1) return `$${dollars.toFixed(2)}`
  const digits = Math.min(12, 2 - Math.floor(Math.log10(dollars)))
  return `$${dollars.toFixed(digits).replace(/(?<!0)0+$/, '')}`
}
