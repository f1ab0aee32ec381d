import type { Usage, UsageDetails } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { countOf, partition, totalsOf } from '../../../messages/usage.ts'
import { type Fields, fieldsOf, hasValue } from '../fields.ts'

/**
 * Makes usage whose details are a partition: a price table charges each detail at its own price and the rest
 * of each total at the base price. Details that overlap or exceed their total are cut, and `isClamped` says
 * so.
 *
 * @param inputTokens Includes the details, as does `outputTokens`.
 * @param tier The service tier. `priority` and `flex` have their own prices: they prefix the details and name
 * the rest.
 * @param raw The provider's counts. OpenRouter and Perplexity send the `cost`, xAI ticks of 1e-10 dollars.
 */
export function toUsage(
  inputTokens: unknown,
  outputTokens: unknown,
  inputDetails: Fields,
  outputDetails: Fields,
  tier?: unknown,
  raw: Fields = NO_COST,
): Usage {
  const usage: { -readonly [Key in keyof Usage]: Usage[Key] } = totalsOf(
    countOf(inputTokens),
    countOf(outputTokens),
  )
  const onCut = () => void CLAMPED.add(usage)
  const input = partitionInTier(usage.inputTokens, inputDetails, tier, onCut)
  if (input) usage.inputDetails = input
  const output = partitionInTier(usage.outputTokens, outputDetails, tier, onCut)
  if (output) usage.outputDetails = output
  const { cost, cost_in_usd_ticks: ticks } = raw
  const totalCost = fieldsOf(cost).total_cost ?? cost ?? (typeof ticks === 'number' ? ticks / 1e10 : ticks)
  if (typeof totalCost === 'number' && totalCost >= 0) usage.totalCost = totalCost
  return usage
}

const NO_COST: Fields = {}

/** With a key of one's own, OpenRouter's `cost` is its fee, which comes on top of the provider's cost. */
export function withProviderCost(usage: Fields): Fields {
  const { is_byok, cost, cost_details } = usage
  if (is_byok !== true) return usage
  return { ...usage, cost: countOf(cost) + countOf(fieldsOf(cost_details).upstream_inference_cost) }
}

/**
 * The counts so far and those of a later report of the same stream. Counts are cumulative, so a later one
 * replaces an earlier one, but not with zero: servers repeat a usage without the counts that did not change.
 */
export function laterCounts(known: Fields | undefined, report: unknown): Fields {
  const counts = fieldsOf(report)
  if (!known) return counts
  const merged: Record<string, unknown> = { ...known }
  for (const key in counts) {
    const [before, value] = [known[key], counts[key]]
    if (hasValue(key, value) && (value !== 0 || before === undefined))
      merged[key] = isRecord(value) && isRecord(before) ? laterCounts(before, value) : value
  }
  return merged
}

/**
 * The details of what was written to a cache: the counts by time to live, and the rest.
 *
 * @param written Includes the counts of `split`.
 */
export function cacheWrites(written: unknown, split: unknown): UsageDetails {
  const counts = fieldsOf(split)
  const short = countOf(counts.ephemeral_5m_input_tokens)
  const long = countOf(counts.ephemeral_1h_input_tokens)
  return {
    ephemeral_5m_input_tokens: short,
    ephemeral_1h_input_tokens: long,
    cache_creation: Math.max(0, countOf(written) - short - long),
  }
}

export const sumOf = (details: UsageDetails): number =>
  Object.values(details).reduce((sum, count) => sum + count, 0)

const CLAMPED = new WeakSet<Usage>()

/** Whether details were cut because the provider's counts overlap or exceed their total. */
export const isClamped = (usage: Usage): boolean => CLAMPED.has(usage)

function partitionInTier(
  total: number,
  details: Fields,
  tier: unknown,
  onCut: () => void,
): UsageDetails | undefined {
  const parts = partition(total, details, onCut)
  if (tier !== 'priority' && tier !== 'flex') return parts
  const priced: Record<string, number> = {}
  let rest = total
  for (const key in parts) {
    priced[/^(cache|reason)/.test(key) ? `${tier}_${key}` : key] = parts[key]!
    rest -= parts[key]!
  }
  if (rest > 0) priced[tier] = rest
  return total > 0 ? priced : undefined
}

export function addUsage(one: Usage, other: Usage): Usage {
  return toUsage(
    one.inputTokens + other.inputTokens,
    one.outputTokens + other.outputTokens,
    addDetails(one.inputDetails, other.inputDetails),
    addDetails(one.outputDetails, other.outputDetails),
    undefined,
    // The sum is NaN if one of the costs is unknown.
    { cost: one.totalCost! + other.totalCost! },
  )
}

function addDetails(one: UsageDetails | undefined, other: UsageDetails | undefined): UsageDetails {
  const sum = { ...one }
  for (const key in other) sum[key] = (sum[key] ?? 0) + other[key]!
  return sum
}
