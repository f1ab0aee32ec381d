import type { Usage } from '../../../../messages/index.ts'
import { countOf } from '../../../../messages/usage.ts'
import { type Fields, fieldsOf, listOf, names, stringOf } from '../../fields.ts'
import { toUsage } from '../../reading/usage.ts'

/**
 * Gemini's prompt count includes cached tokens but no tool results; its candidates count leaves out
 * reasoning.
 */
export function readUsage(usage: Fields): Usage | undefined {
  const { promptTokenCount: prompt, thoughtsTokenCount: thoughts } = usage
  const { cachedContentTokenCount: cached, cacheTokensDetails } = usage
  const written = usage.candidatesTokenCount ?? usage.responseTokenCount
  if (prompt === undefined && written === undefined) return undefined
  const input: Record<string, unknown> = { cache_read: cached }
  const output: Record<string, unknown> = { reasoning: thoughts }
  // Without the cache details, cached tokens cannot be subtracted from the modalities.
  if (!countOf(cached) || cacheTokensDetails) {
    addModalities(input, usage.promptTokensDetails, 1)
    addModalities(input, usage.toolUsePromptTokensDetails, 1)
    addModalities(input, cacheTokensDetails, -1)
  }
  addModalities(output, usage.candidatesTokensDetails ?? usage.responseTokensDetails, 1)
  return toUsage(
    countOf(prompt) + countOf(usage.toolUsePromptTokenCount),
    countOf(written) + countOf(thoughts),
    input,
    output,
  )
}

const MODALITIES = names('audio image video')

function addModalities(into: Record<string, unknown>, list: unknown, sign: number): void {
  for (const item of listOf(list)) {
    const { modality, tokens, tokenCount = tokens } = fieldsOf(item)
    const name = stringOf(modality).toLowerCase()
    if (MODALITIES.has(name)) into[name] = Number(into[name] ?? 0) + sign * countOf(tokenCount)
  }
}
