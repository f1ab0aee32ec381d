import type { Usage, UsageDetails } from '../../messages/index.ts'
import { partition, totalsOf } from '../../messages/usage.ts'

/**
 * Makes usage whose details are a partition: a price table charges each detail at its own price and the rest of each total at
 * the base price. Details that overlap or exceed their total are cut, and `isClamped` says so.
 *
 * @param inputTokens Includes the details, as does `outputTokens`.
 * @param tier The service tier. `priority` and `flex` have prices of their own, so they prefix the details and name the rest.
 */
export function toUsage(
  inputTokens: number,
  outputTokens: number,
  inputDetails: Readonly<Record<string, unknown>>,
  outputDetails: Readonly<Record<string, unknown>>,
  tier?: unknown,
): Usage {
  const usage: { -readonly [Key in keyof Usage]: Usage[Key] } = totalsOf(inputTokens, outputTokens)
  const onCut = () => void CLAMPED.add(usage)
  const input = partitionInTier(inputTokens, inputDetails, tier, onCut)
  if (input) usage.inputDetails = input
  const output = partitionInTier(outputTokens, outputDetails, tier, onCut)
  if (output) usage.outputDetails = output
  return usage
}

const CLAMPED = new WeakSet<Usage>()

/** Whether details were cut because the provider's counts overlap or exceed their total. */
export const isClamped = (usage: Usage): boolean => CLAMPED.has(usage)

function partitionInTier(
  total: number,
  details: Readonly<Record<string, unknown>>,
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

/** Adds up the usage of two calls. */
export function addUsage(one: Usage, other: Usage): Usage {
  return toUsage(
    one.inputTokens + other.inputTokens,
    one.outputTokens + other.outputTokens,
    addDetails(one.inputDetails, other.inputDetails),
    addDetails(one.outputDetails, other.outputDetails),
  )
}

function addDetails(one: UsageDetails | undefined, other: UsageDetails | undefined): UsageDetails {
  const sum = { ...one }
  for (const key in other) sum[key] = (sum[key] ?? 0) + other[key]!
  return sum
}
