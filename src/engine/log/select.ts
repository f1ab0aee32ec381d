import { concatBytes } from '../../core/bytes.ts'
import type { LogBatch } from '../../storage/store/store.ts'
import type { Matcher } from './frame.ts'
import { topicOf } from './frame.ts'

/**
 * The bytes of a batch's wanted events. Adjacent events are one slice of the stored bytes, so a subscriber
 * that wants all events gets them without a copy.
 */
export function selectBytes(
  { bytes, offsets, count, origins, originOf }: LogBatch,
  wanted: Matcher,
): Uint8Array | undefined {
  // Events share few origins, so each origin is decided once.
  const decided: boolean[] = []
  const slices: number[] = []
  for (let i = 0; i < count; i++) {
    const origin = originOf[i]!
    if (!(decided[origin] ??= wanted(topicOf(origins[origin]!)))) continue
    const start = offsets[i]!
    const end = offsets[i + 1]!
    if (slices[slices.length - 1] === start) slices[slices.length - 1] = end
    else slices.push(start, end)
  }
  if (slices.length <= 2) return slices.length === 0 ? undefined : bytes.subarray(slices[0], slices[1])
  const selected: Uint8Array[] = []
  for (let i = 0; i < slices.length; i += 2) selected.push(bytes.subarray(slices[i], slices[i + 1]))
  return concatBytes(selected)
}
