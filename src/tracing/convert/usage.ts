import { type Issue, isClamped } from '../../formats/index.ts'
import type { Usage, UsageDetails } from '../../messages/index.ts'

/** What a model call costs, in US dollars. */
export type Costs = Pick<
  Usage,
  'inputCost' | 'outputCost' | 'totalCost' | 'inputCostDetails' | 'outputCostDetails'
>

/** Says what a call cost, where its provider does not. Gives undefined for models it has no price of. */
export type Prices = (modelName: string, usage: Usage) => Costs | undefined

const CLAMPED: Issue = {
  path: 'usage_metadata',
  message:
    'The details of the provider exceed or overlap their total, and were cut to it. Its own counts are in the response.',
}

/** Spellings that price tables do not know. */
const RENAMED: Readonly<Record<string, string>> = {
  cache_write: 'cache_creation',
  ephemeral_1hr_input_tokens: 'ephemeral_1h_input_tokens',
}

/**
 * Usage that a price table can charge: the totals add up, and the details are a partition of them (facts of `Usage`). What is
 * one already comes back as it is. Where details exceed their total, the earlier ones stand and the later ones give way; an
 * issue says so.
 */
export function partitionUsage(usage: Usage): { readonly usage: Usage; readonly issues: readonly Issue[] } {
  const inputTokens = countOf(usage.inputTokens)
  const outputTokens = countOf(usage.outputTokens)
  const totalTokens = inputTokens + outputTokens
  const issues: Issue[] = isClamped(usage) ? [CLAMPED] : []
  if (
    totalTokens === usage.totalTokens &&
    isPartition(usage.inputTokens, usage.inputDetails) &&
    isPartition(usage.outputTokens, usage.outputDetails)
  )
    return { usage, issues }
  if (totalTokens !== usage.totalTokens && usage.totalTokens !== undefined)
    issues.push({
      path: 'usage_metadata.total_tokens',
      message: `Was ${usage.totalTokens}, which is not input + output.`,
    })
  const { inputDetails, outputDetails, ...others } = usage
  const input = partition(inputTokens, inputDetails, 'input', issues)
  const output = partition(outputTokens, outputDetails, 'output', issues)
  return {
    usage: {
      ...others,
      inputTokens,
      outputTokens,
      totalTokens,
      ...(input && { inputDetails: input }),
      ...(output && { outputDetails: output }),
    },
    issues,
  }
}

function isPartition(total: number, details: UsageDetails = {}): boolean {
  let rest = total
  for (const key in details) {
    const part = details[key]
    if (RENAMED[key] || !(typeof part === 'number' && part > 0 && part <= rest)) return false
    rest -= part
  }
  return total >= 0
}

function partition(
  total: number,
  wanted: UsageDetails | undefined,
  side: 'input' | 'output',
  issues: Issue[],
): UsageDetails | undefined {
  const details: Record<string, number> = {}
  let rest = total
  for (const [given, value] of Object.entries(wanted ?? {})) {
    const key = RENAMED[given] ?? given
    const count = countOf(value)
    const part = Math.min(count, rest)
    if (part < count)
      issues.push({
        path: `usage_metadata.${side}_token_details.${key}`,
        message: `Was ${count}, more than is left of the ${total} ${side} tokens. Details must not overlap.`,
      })
    rest -= part
    if (part > 0) details[key] = (details[key] ?? 0) + part
  }
  return Object.keys(details).length > 0 ? details : undefined
}

const countOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value < 1e15 ? value : 0
