import { filterFields, isRecord } from '../record.ts'
import { totalsOf, type Usage, type UsageDetails } from '../usage.ts'
import { fromWire, toWire, type WireNames } from './names.ts'

/** The usage of a model call, in the form of LangChain's `usage_metadata`. */
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

const AMOUNTS: WireNames = {
  totalTokens: 'total_tokens',
  inputCost: 'input_cost',
  outputCost: 'output_cost',
  totalCost: 'total_cost',
}
const DETAILS: WireNames = {
  inputDetails: 'input_token_details',
  outputDetails: 'output_token_details',
  inputCostDetails: 'input_cost_details',
  outputCostDetails: 'output_cost_details',
}

/** Encodes usage in the form of LangChain's messages. */
export function encodeUsage(usage: Usage): WireUsage {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    ...toWire(usage, DETAILS),
    ...toWire(usage, AMOUNTS),
  }
}

/** Decodes the usage of LangChain's messages. Undefined for anything except an object. */
export function decodeUsage(wire: unknown): Usage | undefined {
  if (!isRecord(wire)) return undefined
  return {
    ...totalsOf(amount(wire.input_tokens) ?? 0, amount(wire.output_tokens) ?? 0),
    ...fromWire(wire, DETAILS, details),
    ...fromWire(wire, AMOUNTS, amount),
  }
}

const amount = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

function details(value: unknown): UsageDetails | undefined {
  if (!isRecord(value)) return undefined
  return filterFields(value, (_, count) => typeof count === 'number') as UsageDetails
}
