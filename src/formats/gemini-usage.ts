import type { Usage } from '../messages/index.ts'
import { type Fields, fieldsOf, listOf, stringOf } from './fields.ts'
import { countOf, toUsage } from './usage.ts'

/** The prompt includes what was cached, but not what tools put into it; thoughts are beside the candidates. */
export function readUsage(usage: Fields): Usage | undefined {
  const { promptTokenCount: prompt, candidatesTokenCount, responseTokenCount } = usage
  const { cachedContentTokenCount: cached, cacheTokensDetails, thoughtsTokenCount: thoughts } = usage
  const written = candidatesTokenCount ?? responseTokenCount
  if (prompt === undefined && written === undefined) return undefined
  const output = modalities(listOf(usage.candidatesTokensDetails ?? usage.responseTokensDetails))
  const unknown = countOf(cached) > 0 && !cacheTokensDetails
  const input = modalities(
    [...listOf(usage.promptTokensDetails), ...listOf(usage.toolUsePromptTokensDetails)],
    listOf(cacheTokensDetails),
  )
  return toUsage(
    countOf(prompt) + countOf(usage.toolUsePromptTokenCount),
    countOf(written) + countOf(thoughts),
    { cache_read: cached, ...(unknown ? undefined : input) },
    { reasoning: thoughts, ...output },
  )
}

/** Tokens by what they stand for, those that have prices of their own. */
function modalities(lists: readonly unknown[], less: readonly unknown[] = []): Record<string, number> {
  const counts: Record<string, number> = { audio: 0, image: 0, video: 0 }
  for (const [list, sign] of [
    [lists, 1],
    [less, -1],
  ] as const)
    for (const item of list) {
      const { modality, tokens, tokenCount = tokens } = fieldsOf(item)
      const name = stringOf(modality).toLowerCase()
      if (Object.hasOwn(counts, name)) counts[name]! += sign * countOf(tokenCount)
    }
  return counts
}
