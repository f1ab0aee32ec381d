import { isRecord } from '../../../messages/record.ts'
import { totalsOf } from '../../../messages/usage.ts'
import type { Finding } from './finding.ts'

type Report = (at: string, message: string, more?: Pick<Finding, 'requirement'>) => void

/** Reports the errors in `usage_metadata`. */
export function checkUsage(usage: unknown, path: string): Finding[] {
  if (!isRecord(usage)) return [{ path, message: 'Is not an object.', requirement: 'token counts' }]
  const findings: Finding[] = []
  const report: Report = (at, message, more) =>
    void findings.push({ path: `${path}.${at}`, message, ...more })
  const costs = ['input_cost', 'output_cost', 'total_cost'].some((key) => usage[key] !== undefined)
  for (const side of ['input', 'output'] as const) {
    const total = usage[`${side}_tokens`]
    if (total === undefined && costs) continue
    if (!isCount(total)) {
      const message = `Is ${JSON.stringify(total) ?? 'missing'}, not a number of tokens.`
      report(`${side}_tokens`, message, { requirement: 'token counts' })
    }
    checkDetails(usage[`${side}_token_details`], total, side, report)
  }
  const { input_tokens, output_tokens, total_tokens } = usage
  const { totalTokens: sum } = totalsOf(Number(input_tokens), Number(output_tokens))
  if (total_tokens !== undefined && Number.isFinite(sum) && total_tokens !== sum)
    report(
      'total_tokens',
      `Is ${JSON.stringify(total_tokens)}, but input and output add up to ${sum}. Cached and reasoning tokens belong in the totals.`,
    )
  return findings
}

/** Each detail is charged at its own price and the rest at the base price, so overlaps are charged twice. */
function checkDetails(details: unknown, total: unknown, side: 'input' | 'output', report: Report): void {
  if (!isRecord(details)) return
  const path = `${side}_token_details`
  let sum = 0
  for (const [key, count] of Object.entries(details)) {
    if (isCount(count)) sum += count
    else report(`${path}.${key}`, `Is ${JSON.stringify(count)}, not a number of tokens.`)
  }
  if (isCount(total) && sum > total)
    report(
      path,
      `The details add up to ${sum}, more than the ${total} ${side} tokens: they overlap, or the total is incomplete. Some tokens are charged twice.`,
    )
  const { ephemeral_5m_input_tokens: short = 0, ephemeral_1h_input_tokens: long = 0 } = details
  const split = Number(short) + Number(long)
  if (split > 0 && details.cache_creation === split)
    report(
      `${path}.cache_creation`,
      'Duplicates the ephemeral_… counts next to it: cache writes are charged twice. Keep only one of them.',
    )
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
