import type { Fields } from './record.ts'
/**
 * The tokens of one model call. `inputTokens` and `outputTokens` include their details and add up to
 * `totalTokens`. Details are a partition: they never overlap, and their sum never exceeds their total.
 */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** Any keys, spelled as in price tables: `cache_read`, `cache_creation`, `ephemeral_5m_input_tokens`, … */
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

export type UsageDetails = Readonly<Record<string, number>>

/** The totals of a call, which both include their details. */
export const totalsOf = (
  inputTokens: number,
  outputTokens: number,
): Pick<Usage, 'inputTokens' | 'outputTokens' | 'totalTokens'> => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
})

/** The value as a number of tokens or dollars, or 0 if it cannot be one. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value < 1e15 ? value : 0

/**
 * Makes details a partition of their total, without those that are zero. Details that overlap or exceed the
 * total are cut: earlier ones keep their count, and later ones get what is left.
 *
 * @param onCut Called with each detail that is cut, and the count it had.
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
