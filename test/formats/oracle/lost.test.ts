import { describe, expect, test } from 'vitest'
import {
  anthropicHistory,
  bedrockConverseHistory,
  geminiHistory,
  openaiChatHistory,
  openaiResponsesHistory,
  PROOFS,
  read,
} from './histories.ts'
import { lostOf } from './lost.ts'

describe('what a request has lost', () => {
  test.each([
    ['anthropic', anthropicHistory, PROOFS.anthropic],
    ['openaiChat', openaiChatHistory, undefined],
    ['openaiResponses', openaiResponsesHistory, PROOFS.openaiResponses],
    ['gemini', geminiHistory, PROOFS.gemini],
    ['bedrockConverse', bedrockConverseHistory, PROOFS.bedrockConverse],
  ] as const)('nothing of the request of %s that was read', (name, history, proof) => {
    expect(lostOf(read(name), history, proof)).toEqual([])
  })

  test('everything of a request that says nothing', () => {
    expect(lostOf(read('anthropic'), { messages: [] }, PROOFS.anthropic).sort()).toEqual(
      [
        'user text "What is in these?"',
        'proof "proofAnthropicSignature1"',
        'proof "proofAnthropicRedacted1"',
        'assistant text "I search."',
        'assistant text "It is a ship."',
        'proof "proofAnthropicSignature2"',
        'call weather with {"city":"Oslo"}',
        'call clock with {}',
        'result "Rain in Oslo"',
        'result "No clock"',
        'user text "And now?"',
        'assistant text "Take an umbrella."',
      ].sort(),
    )
  })

  test('one of two equal calls', () => {
    const call = { type: 'toolCall', name: 'f', args: { a: 1 } } as const
    const result = { role: 'tool', content: [{ type: 'text', text: 'So' }] } as const
    const messages = [
      {
        role: 'assistant',
        content: [
          { ...call, id: '1' },
          { ...call, id: '2' },
        ],
      },
      { ...result, toolCallId: '1' },
      { ...result, toolCallId: '2' },
    ] as const
    const sent = { content: [{ input: { a: 1 } }, 'So'] }
    expect(lostOf(messages, sent)).toEqual(['call f with {"a":1}'])
  })
})
