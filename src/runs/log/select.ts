import type { LogBatch } from '../../storage/store/store.ts'
import { topicOf } from '../topic.ts'
import type { Matcher } from './filter.ts'

/**
 * The bytes of a batch's wanted events. Neighbours are one slice of the log itself: a subscriber that wants everything is
 * handed the stored bytes, whatever their number.
 */
export function selectBytes(
  { bytes, offsets, count, origins, originOf }: LogBatch,
  wanted: Matcher,
): Uint8Array | undefined {
  // Events share few origins: decide once for each.
  const decided: boolean[] = []
  const slices: number[] = []
  let size = 0
  for (let i = 0; i < count; i++) {
    const origin = originOf[i]!
    if (!(decided[origin] ??= wanted(topicOf(origins[origin]!)))) continue
    const start = offsets[i]!
    const end = offsets[i + 1]!
    size += end - start
    if (slices[slices.length - 1] === start) slices[slices.length - 1] = end
    else slices.push(start, end)
  }
  if (slices.length <= 2) return slices.length === 0 ? undefined : bytes.subarray(slices[0], slices[1])
  const selected = new Uint8Array(size)
  for (let i = 0, at = 0; i < slices.length; i += 2) {
    const slice = bytes.subarray(slices[i], slices[i + 1])
    selected.set(slice, at)
    at += slice.length
  }
  return selected
}
