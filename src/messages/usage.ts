/**
 * Tokens of one model call. `inputTokens` and `outputTokens` are inclusive totals and add up to `totalTokens`; the details
 * are a partition: keys never overlap, and their sum never exceeds the total they belong to.
 */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** An open set of keys, spelled as price tables spell them: `cache_read`, `cache_creation`, `ephemeral_5m_input_tokens`, … */
  readonly inputDetails?: UsageDetails
  /** `reasoning`, `audio`, … */
  readonly outputDetails?: UsageDetails
  /** In US dollars, as are all costs. */
  readonly inputCost?: number
  readonly outputCost?: number
  readonly totalCost?: number
  readonly inputCostDetails?: UsageDetails
  readonly outputCostDetails?: UsageDetails
}

export type UsageDetails = Readonly<Record<string, number>>
