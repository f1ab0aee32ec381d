import type { Usage } from '../../../../messages/index.ts'
import { isRecord } from '../../../../messages/record.ts'
import { countOf } from '../../../../messages/usage.ts'
import { fieldsOf } from '../../fields.ts'
import { cacheWrites, toUsage, withProviderCost } from '../../reading/usage.ts'

/**
 * Reads usage in any spelling of the AI SDK: nested totals (models V3 and V4), `…TokenDetails` (6 and 7),
 * flat counts (5, V2) and `promptTokens` (4). Flat totals omit what the provider's own totals omit, so the
 * provider must be known: its name is a key of `providerMetadata`.
 */
export function readUsage(raw: unknown, providerMetadata: unknown): Usage | undefined {
  const usage = fieldsOf(raw)
  const { inputTokens = usage.promptTokens, outputTokens = usage.completionTokens } = usage
  const [input, output] = [fieldsOf(inputTokens), fieldsOf(outputTokens)]
  const totals = [
    isRecord(inputTokens) ? input.total : inputTokens,
    isRecord(outputTokens) ? output.total : outputTokens,
  ]
  if ((totals[0] ?? totals[1] ?? undefined) === undefined) return undefined
  const { cacheReadTokens, cacheWriteTokens } = fieldsOf(usage.inputTokenDetails)
  const about = fieldsOf(providerMetadata)
  const metadataOf = (name: string) => fieldsOf(about[name])
  const [anthropic, openai] = [metadataOf('anthropic'), metadataOf('openai')]
  const flat = input !== inputTokens && !usage.inputTokenDetails
  const read = countOf(
    input.cacheRead ??
      cacheReadTokens ??
      usage.cachedInputTokens ??
      anthropic.cacheReadInputTokens ??
      openai.cachedPromptTokens,
  )
  const written = countOf(
    input.cacheWrite ??
      cacheWriteTokens ??
      anthropic.cacheCreationInputTokens ??
      fieldsOf(metadataOf('bedrock').usage).cacheWriteInputTokens,
  )
  const reasoning = countOf(
    output.reasoning ??
      fieldsOf(usage.outputTokenDetails).reasoningTokens ??
      usage.reasoningTokens ??
      openai.reasoningTokens,
  )
  const [known, answered] = totals.map(countOf) as [number, number]
  const cacheExcluded = flat && (about.anthropic || about.bedrock)
  const reasoningExcluded =
    flat && (about.google || about.vertex || usage.totalTokens === known + answered + reasoning)
  const counted = fieldsOf(usage.raw ?? anthropic.usage ?? metadataOf('openrouter').usage)
  return toUsage(
    known + (cacheExcluded ? read + written : 0),
    answered + (reasoningExcluded ? reasoning : 0),
    {
      cache_read: read,
      ...cacheWrites(written, counted.cache_creation),
    },
    { reasoning },
    undefined,
    withProviderCost(counted),
  )
}
