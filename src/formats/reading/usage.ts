import type { Usage, UsageDetails } from '../../messages/index.ts'

/** A number of tokens, or of dollars: 0 for what is none. */
export const countOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value < 1e15 ? value : 0

/**
 * Usage as a partition: what a price table charges per detail, and the rest of each total at the base price. Details that are
 * zero are left out. Where details overlap or exceed their total, the earlier ones stand and the later ones give way.
 *
 * @param inputTokens Inclusive, as is `outputTokens`.
 * @param tier The service tier. Those with prices of their own put their name before the details and on the rest.
 */
export function toUsage(
  inputTokens: number,
  outputTokens: number,
  inputDetails: Readonly<Record<string, unknown>>,
  outputDetails: Readonly<Record<string, unknown>>,
  tier?: unknown,
): Usage {
  const usage: { -readonly [Key in keyof Usage]: Usage[Key] } = {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
  }
  const input = partition(inputTokens, inputDetails, tier, usage)
  if (input) usage.inputDetails = input
  const output = partition(outputTokens, outputDetails, tier, usage)
  if (output) usage.outputDetails = output
  return usage
}

const CLAMPED = new WeakSet<Usage>()

/** Whether details had to give way: what the provider counted overlaps, or exceeds its total. */
export const isClamped = (usage: Usage): boolean => CLAMPED.has(usage)

function partition(
  total: number,
  wanted: Readonly<Record<string, unknown>>,
  tier: unknown,
  usage: Usage,
): UsageDetails | undefined {
  const prefix = tier === 'priority' || tier === 'flex' ? tier : undefined
  let details: Record<string, number> | undefined
  let rest = total
  for (const key in wanted) {
    const count = countOf(wanted[key])
    const part = Math.min(count, rest)
    if (part < count) CLAMPED.add(usage)
    if (part <= 0) continue
    rest -= part
    ;(details ??= {})[prefix && /^(cache|reason)/.test(key) ? `${prefix}_${key}` : key] = part
  }
  return prefix && rest > 0 ? { ...details, [prefix]: rest } : details
}

/** What two calls used together. */
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
