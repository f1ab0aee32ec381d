import { decodeUsage, type Usage } from '../../../../messages/index.ts'
import type { PriceRow, Prices } from '../../wire.ts'
import { fieldOf, textOf } from './json.ts'

/** A model call that reported its tokens. */
export interface ModelCall {
  /** Undefined if the log does not name it. */
  readonly model: string | undefined
  readonly usage: Usage
}

/** The tokens of any number of calls. `input` and `output` include their details. */
export interface Totals {
  readonly calls: number
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
  /** The cost of the calls with a known cost, in US dollars. */
  readonly cost: number
  /** The number of calls with a known cost. */
  readonly priced: number
}

export const NOTHING: Totals = {
  calls: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  cost: 0,
  priced: 0,
}

export const add = (one: Totals, other: Totals): Totals => ({
  calls: one.calls + other.calls,
  input: one.input + other.input,
  output: one.output + other.output,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  reasoning: one.reasoning + other.reasoning,
  cost: one.cost + other.cost,
  priced: one.priced + other.priced,
})

export function totalsOf({ model, usage }: ModelCall, prices: Prices): Totals {
  const { inputTokens: input, outputTokens: output, outputDetails } = usage
  const cost = costOf(usage, priceOf(model, prices))
  return {
    calls: 1,
    input,
    output,
    cacheRead: cacheReadOf(usage),
    cacheWrite: cacheWriteOf(usage),
    reasoning: sumOf(outputDetails, isReasoning),
    cost: cost ?? 0,
    priced: cost === undefined ? 0 : 1,
  }
}

type Details = Usage['inputDetails']

const sumOf = (details: Details, isOne: (key: string) => boolean): number =>
  Object.entries(details ?? {}).reduce((sum, [key, count]) => (isOne(key) ? sum + count : sum), 0)

/** A service tier precedes the name of a detail: `priority_cache_read`. */
const TIER = /^(priority|flex)(_|$)/
const nameOf = (key: string): string => key.replace(TIER, '')
const isReasoning = (key: string): boolean => nameOf(key).startsWith('reasoning')
const cacheReadOf = ({ inputDetails }: Usage): number =>
  sumOf(inputDetails, (key) => nameOf(key) === 'cache_read')
const cacheWriteOf = ({ inputDetails }: Usage): number =>
  sumOf(inputDetails, (key) => /^(cache_(creation|write)|ephemeral_)/.test(nameOf(key)))

/** The cost that the provider reports, otherwise the cost by price. Service tiers have other prices. */
function costOf(usage: Usage, price: PriceRow | undefined): number | undefined {
  const { totalCost, inputCost, outputCost, inputTokens, outputTokens, inputDetails, outputDetails } = usage
  if (totalCost !== undefined) return totalCost
  if (inputCost !== undefined && outputCost !== undefined) return inputCost + outputCost
  const isOfTier = Object.keys({ ...inputDetails, ...outputDetails }).some((key) => TIER.test(key))
  if (!price || isOfTier) return undefined
  const [read, write] = [cacheReadOf(usage), cacheWriteOf(usage)]
  const rest = Math.max(0, inputTokens - read - write)
  const { input, output, cache_read, cache_write } = price
  return (rest * input + read * cache_read + write * cache_write + outputTokens * output) / 1e6
}

/** The dates and versions that providers append to the name of the requested model. */
const DATED = /(-\d{4}-\d{2}-\d{2}|-\d{8}|@[^@]+)$/

function priceOf(model: string | undefined, prices: Prices): PriceRow | undefined {
  for (const name of model === undefined ? ['*'] : [model, model.replace(DATED, '')])
    if (Object.hasOwn(prices, name)) return prices[name]
  return undefined
}

/** The model call of a message. Undefined if it did not report its tokens. */
export function callOf(usage: unknown, metadata: unknown): ModelCall | undefined {
  const decoded = decodeUsage(usage)
  return decoded && { model: modelOf(metadata), usage: withCost(decoded, metadata) }
}

export const modelOf = (metadata: unknown): string | undefined =>
  textOf(fieldOf(metadata, 'model_name')) ??
  textOf(fieldOf(metadata, 'model')) ??
  textOf(fieldOf(metadata, 'ls_model_name'))

/** OpenRouter and others report the cost of the call with their own token counts. */
function withCost(usage: Usage, metadata: unknown): Usage {
  if (usage.totalCost !== undefined) return usage
  for (const key of ['usage', 'token_usage', 'tokenUsage']) {
    const totalCost = fieldOf(fieldOf(metadata, key), 'cost')
    if (typeof totalCost === 'number') return { ...usage, totalCost }
  }
  return usage
}
