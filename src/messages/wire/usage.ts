import { isRecord } from '../record.ts'
import { totalsOf, type Usage, type UsageDetails } from '../usage.ts'
import { given } from './given.ts'

export interface WireUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly input_token_details?: UsageDetails
  readonly output_token_details?: UsageDetails
  readonly input_cost?: number
  readonly output_cost?: number
  readonly total_cost?: number
  readonly input_cost_details?: UsageDetails
  readonly output_cost_details?: UsageDetails
}

export function encodeUsage(usage: Usage): WireUsage {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    ...given('input_token_details', usage.inputDetails),
    ...given('output_token_details', usage.outputDetails),
    ...given('input_cost', usage.inputCost),
    ...given('output_cost', usage.outputCost),
    ...given('total_cost', usage.totalCost),
    ...given('input_cost_details', usage.inputCostDetails),
    ...given('output_cost_details', usage.outputCostDetails),
  }
}

export function decodeUsage(wire: unknown): Usage | undefined {
  if (!isRecord(wire)) return undefined
  return {
    ...totalsOf(amount(wire.input_tokens) ?? 0, amount(wire.output_tokens) ?? 0),
    ...given('totalTokens', amount(wire.total_tokens)),
    ...given('inputDetails', details(wire.input_token_details)),
    ...given('outputDetails', details(wire.output_token_details)),
    ...given('inputCost', amount(wire.input_cost)),
    ...given('outputCost', amount(wire.output_cost)),
    ...given('totalCost', amount(wire.total_cost)),
    ...given('inputCostDetails', details(wire.input_cost_details)),
    ...given('outputCostDetails', details(wire.output_cost_details)),
  }
}

const amount = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

function details(value: unknown): UsageDetails | undefined {
  if (!isRecord(value)) return undefined
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}
