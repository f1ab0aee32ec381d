import fc from 'fast-check'
import { args, count, name, picks, pieces, text, unknown } from '../arbitraries.ts'
import type { Example } from '../examples.ts'

const extras = unknown('extras')

/** The blocks of the platform. */
const block = fc.oneof(
  fc.record({ type: fc.constantFrom('text', 'reasoning'), text, extras }),
  fc.record({ type: fc.constant('tool_call'), name, args, id: text, extras }),
  fc.record({ type: fc.constant('server_tool_call'), id: text, name, args }),
  fc.record({
    type: fc.constant('server_tool_result'),
    tool_call_id: text,
    status: fc.constantFrom('success', 'error'),
    output: args,
  }),
  fc.record({
    type: fc.constantFrom('image', 'file', 'audio', 'video'),
    base64: fc.constant('AAAA'),
    mime_type: fc.constant('image/png'),
  }),
  fc.record({ type: fc.constantFrom('image', 'file'), id: text }),
  fc.record({ type: fc.constant('hologram'), depth: fc.nat() }),
)

const usage = fc.record({ input_tokens: count, output_tokens: count, total_cost: count })

/** Drops a text that follows one of its type, because a stream cannot tell the two apart. */
const distinct = <Item extends { type: string }>(items: readonly Item[]): Item[] =>
  items.filter(({ type }, index) => type !== items[index - 1]?.type || !/^(text|reasoning)$/.test(type))

export const generic: fc.Arbitrary<Example> = fc
  .record({
    content: fc.oneof(fc.array(block, { maxLength: 5 }), text),
    shape: fc.constantFrom('choices', 'message', 'flat'),
    usage_metadata: usage,
    others: unknown('top'),
    ofMessage: unknown('message'),
    picks,
  })
  .map(({ content: raw, shape, usage_metadata, others, ofMessage, picks }) => {
    const content = typeof raw === 'string' ? raw : distinct(raw)
    const shaped = (message: object, about: object) =>
      shape === 'flat'
        ? { ...message, ...about }
        : { [shape]: shape === 'choices' ? [{ index: 0, message }] : message, ...about }
    const cut: unknown[] =
      typeof content === 'string'
        ? pieces(content, picks)
        : content.flatMap((block): unknown[] =>
            'text' in block
              ? pieces(block.text, picks).map((text, at) => [
                  at === 0 ? { ...block, text } : { type: block.type, text },
                ])
              : [[block]],
          )
    const role = 'assistant'
    return {
      response: shaped({ role, content, ...ofMessage }, { usage_metadata, ...others }),
      chunks: [...cut.map((content) => ({ role, content })), { role, content: '', ...ofMessage }].map(
        (message, at) =>
          shaped(message, at === cut.length ? { usage_metadata, ...others } : { usage_metadata }),
      ),
    }
  })
