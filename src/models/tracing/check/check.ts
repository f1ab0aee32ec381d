import { isRecord } from '../../../messages/record.ts'
import { totalsOf } from '../../../messages/usage.ts'
import { type Fields, fieldsOf } from '../../formats/fields.ts'
import { checkMessages, type Finding, type Requirement } from './messages.ts'

/** A run as logged by any library. */
export interface CheckedRun {
  readonly run_type?: unknown
  readonly inputs?: unknown
  readonly outputs?: unknown
  readonly error?: unknown
  readonly extra?: unknown
}

/**
 * Reports the requirements of a model-call trace that a run misses, and the errors in its messages and
 * counts. A correct run has no findings.
 */
export function checkLlmRun(run: CheckedRun): readonly Finding[] {
  const { run_type, inputs, outputs, error, extra } = fieldsOf(run)
  const metadata = fieldsOf(fieldsOf(extra).metadata)
  const findings: Finding[] = []
  const addMissing = (requirement: Requirement, path: string, message: string) =>
    void findings.push({ path, message, requirement })

  if (run_type !== 'llm')
    addMissing(
      'run type',
      'run_type',
      `Is ${show(run_type)}, not "llm": the run is not shown as a model call, with tokens and costs.`,
    )
  if (!isInput(inputs))
    addMissing(
      'message format',
      'inputs',
      'Has no `messages` list, `prompt` text or `input`: it is shown as raw JSON. Convert it with convertModelCall.',
    )
  if (!isOutput(outputs) && !error)
    addMissing(
      'message format',
      'outputs',
      'Has none of `messages`, `choices`, `message`, or `role` and `content`: the answer is shown as raw JSON. Convert it with convertModelCall.',
    )
  for (const key of ['ls_provider', 'ls_model_name'])
    if (typeof metadata[key] !== 'string' || metadata[key] === '')
      addMissing('provider and model', `extra.metadata.${key}`, 'Is missing: no costs are computed.')
  const [usage, path] = usageOf(metadata, outputs)
  if (usage !== undefined) for (const finding of checkUsage(usage, path)) findings.push(finding)
  else if (!error)
    addMissing(
      'token counts',
      path,
      'Is missing: token counts are not shown, or only estimated. OpenAI streams report usage only with `stream_options: { include_usage: true }`.',
    )
  // Messages in a provider's shape follow other rules.
  if (metadata.ls_message_format === undefined)
    for (const finding of checkMessages(inputs, outputs)) findings.push(finding)
  return findings
}

type Report = (at: string, message: string, more?: Pick<Finding, 'requirement'>) => void

/** Reports the errors in `usage_metadata`. */
function checkUsage(usage: unknown, path: string): Finding[] {
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

function usageOf(metadata: Fields, outputs: unknown): [usage: unknown, path: string] {
  const { usage_metadata: usage } = fieldsOf(outputs)
  if (usage !== undefined) return [usage, 'outputs.usage_metadata']
  return [metadata.usage_metadata, 'extra.metadata.usage_metadata']
}

function isInput(inputs: unknown): boolean {
  const { messages, prompt, input } = fieldsOf(inputs)
  return (
    Array.isArray(messages) || typeof prompt === 'string' || typeof input === 'string' || Array.isArray(input)
  )
}

function isOutput(outputs: unknown): boolean {
  if (Array.isArray(outputs)) return outputs.length === 2 && typeof outputs[0] === 'string'
  const { messages, choices, message, role, content, output, generations } = fieldsOf(outputs)
  if ([messages, choices, output, generations].some((list) => Array.isArray(list) && list.length > 0))
    return true
  return isRecord(message) || (typeof role === 'string' && content !== undefined)
}

const show = (value: unknown): string => (value === undefined ? 'missing' : JSON.stringify(value))
