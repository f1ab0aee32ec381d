import type { FinishReason } from '../../messages/index.ts'

/** The words of all providers, in the order they are tried. */
const REASONS: readonly (readonly [RegExp, FinishReason])[] = [
  [/^(stop|end_turn|stop_sequence|completed?)$/i, 'stop'],
  [/^(tool.(call|use)|function_call)/i, 'toolCalls'],
  [/length|max.(output.)?tokens|context_window/i, 'length'],
  [/filter|refusal|guardrail|safety|recitation|blocklist|prohibited|spii/i, 'contentFilter'],
  [/pause|compaction|interrupted/i, 'pause'],
  [/error|fail|timeout|malformed|unexpected|too_many/i, 'error'],
]

/** The finish reason in one spelling. A model that stops to call tools says so, also where its provider does not. */
export function finishReasonOf(raw: unknown, calls: boolean): FinishReason | undefined {
  if (typeof raw !== 'string') return undefined
  const reason = REASONS.find(([words]) => words.test(raw))?.[1] ?? 'other'
  return reason === 'stop' && calls ? 'toolCalls' : reason
}
