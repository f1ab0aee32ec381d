import type { Usage } from '../../messages/index.ts'

/** The tokens of a run's model calls. */
export interface TokenTotals {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

export const plus = (spent: TokenTotals | undefined, usage: Usage | undefined): TokenTotals | undefined =>
  usage
    ? {
        input: (spent?.input ?? 0) + usage.inputTokens,
        cached: (spent?.cached ?? 0) + (usage.inputDetails?.cache_read ?? 0),
        output: (spent?.output ?? 0) + usage.outputTokens,
        reasoning: (spent?.reasoning ?? 0) + (usage.outputDetails?.reasoning ?? 0),
      }
    : spent

export const responseUsage = ({ input, cached, output, reasoning }: TokenTotals) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
})

export const chatUsage = ({ input, cached, output, reasoning }: TokenTotals) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
})
