import type { Usage, UsageDetails } from '../../../messages/index.ts'
import { defined } from '../../../messages/record.ts'
import { countOf, partition, totalsOf } from '../../../messages/usage.ts'
import { type Issue, isClamped } from '../../formats/index.ts'

/** The costs of a model call, in US dollars. */
export type Costs = Pick<
  Usage,
  'inputCost' | 'outputCost' | 'totalCost' | 'inputCostDetails' | 'outputCostDetails'
>

/**
 * Calculates the costs of a call if its provider does not report them. Returns undefined for a model without
 * a price.
 */
export type Prices = (modelName: string, usage: Usage) => Costs | undefined

const CLAMPED: Issue = {
  path: 'usage_metadata',
  message: 'The token details of the provider exceed or overlap their total, and were reduced to it.',
}

/** Spellings that price tables do not know, and the ones that they know. */
const RENAMED: Readonly<Record<string, string>> = {
  cache_write: 'cache_creation',
  ephemeral_1hr_input_tokens: 'ephemeral_1h_input_tokens',
}

/**
 * Makes usage that a price table can charge: the totals add up, and the details are a partition of them (see
 * `Usage`). Details that exceed their total are reduced, the last one first, and an issue names each.
 */
export function partitionUsage(usage: Usage): { readonly usage: Usage; readonly issues: readonly Issue[] } {
  const { inputDetails, outputDetails, ...others } = usage
  const totals = totalsOf(countOf(usage.inputTokens), countOf(usage.outputTokens))
  const issues: Issue[] = isClamped(usage) ? [CLAMPED] : []
  if (
    totals.totalTokens === usage.totalTokens &&
    isPartition(usage.inputTokens, inputDetails) &&
    isPartition(usage.outputTokens, outputDetails)
  )
    return { usage, issues }
  if (totals.totalTokens !== usage.totalTokens && usage.totalTokens !== undefined)
    issues.push({
      path: 'usage_metadata.total_tokens',
      message: `Was ${usage.totalTokens}, which is not input + output.`,
    })
  const input = partitionSide('input', totals.inputTokens, inputDetails, issues)
  const output = partitionSide('output', totals.outputTokens, outputDetails, issues)
  return {
    usage: { ...others, ...totals, ...defined({ inputDetails: input, outputDetails: output }) },
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

function partitionSide(
  side: 'input' | 'output',
  total: number,
  details: UsageDetails | undefined,
  issues: Issue[],
): UsageDetails | undefined {
  const renamed: Record<string, number> = {}
  for (const key in details) {
    const name = RENAMED[key] ?? key
    renamed[name] = (renamed[name] ?? 0) + countOf(details[key])
  }
  return partition(total, renamed, (key, count) => {
    issues.push({
      path: `usage_metadata.${side}_token_details.${key}`,
      message: `Was ${count}, more than is left of the ${total} ${side} tokens.`,
    })
  })
}
