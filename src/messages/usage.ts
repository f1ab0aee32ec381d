import type { Fields } from './record.ts'
/**
 * The tokens of one model call. `inputTokens` and `outputTokens` include their details and add up to
 * `totalTokens`. Details never overlap, and their sum never exceeds their total.
 */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** Any keys, named as in price tables: `cache_read`, `cache_creation`, `ephemeral_5m_input_tokens`, … */
  readonly inputDetails?: UsageDetails
  /** Any keys: `reasoning`, `audio`, … */
  readonly outputDetails?: UsageDetails
  /** All costs are in US dollars. */
  readonly inputCost?: number
  readonly outputCost?: number
  readonly totalCost?: number
  readonly inputCostDetails?: UsageDetails
  readonly outputCostDetails?: UsageDetails
}

/** Token counts or costs by key. */
export type UsageDetails = Readonly<Record<string, number>>

/** The totals of a call. Both inputs must include their details. */
export const totalsOf = (
  inputTokens: number,
  outputTokens: number,
): Pick<Usage, 'inputTokens' | 'outputTokens' | 'totalTokens'> => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
})

/** The value if it is a valid number of tokens or dollars, otherwise 0. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value < 1e15 ? value : 0

/**
 * Splits a total into details that do not overlap, without zeros. Details that overlap or exceed the total
 * are reduced: earlier ones keep their count, later ones get the rest.
 *
 * @param onCut Called with each detail that is reduced, and its original count.
 */
export function partition(
  total: number,
  details: Fields,
  onCut: (key: string, count: number) => void,
): Record<string, number> | undefined {
  let parts: Record<string, number> | undefined
  let rest = total
  for (const key in details) {
    const count = countOf(details[key])
    const part = Math.min(count, rest)
    if (part < count) onCut(key, count)
    if (part <= 0) continue
    rest -= part
    ;(parts ??= {})[key] = part
  }
  return parts
}
