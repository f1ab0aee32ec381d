import fc from 'fast-check'
import { args, count, interleave, name, picks, pieces, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

const details = fc.option(
  fc.array(fc.record({ modality: fc.constantFrom('TEXT', 'AUDIO', 'IMAGE', 'VIDEO'), tokenCount: count }), {
    maxLength: 3,
  }),
)

const usage = fc.record(
  {
    promptTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
    toolUsePromptTokenCount: count,
    cachedContentTokenCount: count,
    promptTokensDetails: details,
    cacheTokensDetails: details,
    candidatesTokensDetails: details,
  },
  { requiredKeys: [] },
)

const part = fc.oneof(
  fc.record({
    kind: fc.constant('text' as const),
    text,
    thought: fc.boolean(),
    signature: fc.option(text),
    others: unknown('part'),
  }),
  fc.record({
    kind: fc.constant('whole' as const),
    part: fc.oneof(
      fc.record({
        functionCall: fc.record({ name, args, id: text }, { requiredKeys: ['name'] }),
        thoughtSignature: text,
      }),
      fc.record({ executableCode: fc.record({ language: fc.constant('PYTHON'), code: text }) }),
      fc.record({
        codeExecutionResult: fc.record({
          outcome: fc.constantFrom('OUTCOME_OK', 'OUTCOME_FAILED'),
          output: text,
        }),
      }),
      fc.record({ inlineData: fc.record({ mimeType: fc.constant('image/png'), data: fc.constant('AAAA') }) }),
      unknown('part'),
    ),
  }),
)

const candidate = fc.record({
  parts: fc.array(part, { maxLength: 5 }).map((parts) =>
    // A stream does not tell where the first of two consecutive texts ends.
    parts.filter((part, at) => {
      const before = parts[at - 1]
      const both = part.kind === 'text' && before?.kind === 'text' && before.thought === part.thought
      return !both
    }),
  ),
  finishReason: fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY', 'NEW_REASON'),
  others: unknown('candidate'),
})

/** Responses of Gemini. */
export const gemini: fc.Arbitrary<Example> = fc
  .record({
    candidates: fc.array(candidate, { minLength: 1, maxLength: 3 }),
    usage,
    others: unknown('top'),
    picks,
  })
  .map(({ candidates, usage, others, picks }) => {
    const about = { responseId: 'r1', modelVersion: 'm', ...others }
    const end = ({ finishReason, others }: (typeof candidates)[number]) => ({ finishReason, ...others })
    const streams = candidates.map(({ parts, ...ends }, index) => [
      ...parts
        .flatMap((part): object[] => {
          if (part.kind === 'whole') return [part.part]
          const cut: object[] = pieces(part.text, picks).map((text) => ({ text, thought: part.thought }))
          const sign =
            part.signature === null
              ? []
              : [{ text: '', thought: part.thought, thoughtSignature: part.signature }]
          return [{ ...cut[0], ...part.others }, ...cut.slice(1), ...sign]
        })
        .map((part) => ({ index, content: { role: 'model', parts: [part] } })),
      { index, content: { parts: [{ text: '' }] }, ...end({ parts, ...ends }) },
    ])
    const said = Object.fromEntries(
      Object.entries(usage).filter(([, value]) => value !== null && value !== undefined),
    )
    return {
      response: {
        ...about,
        candidates: candidates.map(({ parts, ...ends }, index) => ({
          index,
          content: {
            role: 'model',
            parts: parts.map((part) =>
              part.kind === 'whole'
                ? part.part
                : {
                    text: part.text,
                    thought: part.thought,
                    ...(part.signature !== null && { thoughtSignature: part.signature }),
                    ...part.others,
                  },
            ),
          },
          ...end({ parts, ...ends }),
        })),
        usageMetadata: { trafficType: 'ON_DEMAND', ...said },
      },
      chunks: [
        ...interleave(streams, picks).map((candidate) => ({
          ...about,
          candidates: [candidate],
          usageMetadata: { trafficType: 'ON_DEMAND' },
        })),
        { ...about, usageMetadata: said },
      ],
    }
  })
