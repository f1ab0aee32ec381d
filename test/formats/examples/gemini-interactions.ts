import fc from 'fast-check'
import { args, count, name, picks, pieces, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

const usage = fc.record(
  {
    total_input_tokens: count,
    total_output_tokens: count,
    total_thought_tokens: count,
    total_tool_use_tokens: count,
    total_cached_tokens: count,
    total_tokens: count,
    input_tokens_by_modality: fc.array(
      fc.record({ modality: fc.constantFrom('text', 'audio'), tokens: count }),
    ),
  },
  { requiredKeys: [] },
)

const step = fc.oneof(
  fc.record({
    type: fc.constant('model_output' as const),
    content: fc
      .array(
        fc.oneof(
          fc.record({ type: fc.constant('text' as const), text }),
          fc.record({
            type: fc.constant('image' as const),
            data: fc.constant('AAAA'),
            mime_type: fc.constant('image/png'),
          }),
        ),
        { minLength: 1, maxLength: 3 },
      )
      .map((parts) => parts.filter(({ type }, at) => type === 'image' || parts[at - 1]?.type !== type)),
  }),
  fc.record({ type: fc.constant('thought' as const), text, signature: text, others: unknown('step') }),
  fc.record({ type: fc.constant('function_call' as const), id: text, name, arguments: args }),
  fc.record({
    type: fc.constant('code_execution_call' as const),
    id: text,
    arguments: fc.record({ language: fc.constant('python'), code: text }),
  }),
  fc.record({
    type: fc.constant('code_execution_result' as const),
    call_id: text,
    result: text,
    is_error: fc.boolean(),
  }),
  fc.record({ type: fc.constant('hologram' as const), value: text }),
)

/** Responses of Google's Interactions API. */
export const geminiInteractions: fc.Arbitrary<Example> = fc
  .record({ steps: fc.array(step, { maxLength: 5 }), usage, others: unknown('top'), picks })
  .map(({ steps, usage, others, picks }) => {
    const about = { id: 'i1', model: 'gemini-x', ...others }
    const said = Object.fromEntries(
      Object.entries(usage).filter(([, value]) => value !== null && value !== undefined),
    )
    const streams = steps.map((step, index) => {
      const cut = (value: string, wrap: (piece: string) => object) => pieces(value, picks).map(wrap)
      const [start, deltas] = ((): [object, object[]] => {
        switch (step.type) {
          case 'model_output':
            return [
              { type: step.type },
              step.content.flatMap((part) =>
                part.type === 'text' ? cut(part.text, (text) => ({ type: 'text', text })) : [part],
              ),
            ]
          case 'thought':
            return [
              { type: step.type, ...step.others },
              [
                ...cut(step.text, (text) => ({ type: 'thought_summary', content: { type: 'text', text } })),
                { type: 'thought_signature', signature: step.signature },
              ],
            ]
          case 'function_call':
            return [
              { ...step, arguments: {} },
              cut(JSON.stringify(step.arguments), (piece) => ({ type: 'arguments_delta', arguments: piece })),
            ]
          case 'code_execution_call':
            return [{ ...step, arguments: {} }, [{ type: step.type, arguments: step.arguments }]]
          case 'code_execution_result':
            return [
              { type: step.type, call_id: step.call_id },
              [{ type: step.type, result: step.result, is_error: step.is_error }],
            ]
          default:
            return [step, []]
        }
      })()
      return [
        { event_type: 'step.start', index, step: start },
        ...deltas.map((delta) => ({ event_type: 'step.delta', index, delta })),
        { event_type: 'step.stop', index },
      ]
    })
    const whole = steps.map((step) => {
      if (step.type !== 'thought') return step
      const { text, others, ...thought } = step
      return { ...thought, ...others, summary: [{ type: 'text', text }] }
    })
    return {
      response: { ...about, object: 'interaction', status: 'completed', steps: whole, usage: said },
      chunks: [
        {
          event_type: 'interaction.created',
          interaction: { ...about, object: 'interaction', status: 'in_progress' },
        },
        ...streams.flat(),
        {
          event_type: 'interaction.completed',
          interaction: { ...about, object: 'interaction', status: 'completed', steps: whole, usage: said },
        },
      ],
    }
  })
