import type { ContentBlock } from '../../../../messages/index.ts'
import { isRecord } from '../../../../messages/record.ts'
import { type Fields, fieldsOf, listOf, manyOf, stringOf } from '../../fields.ts'
import { blocksOf, type Choice, choiceOf, createDraft, finishPart } from '../../reading/draft.ts'
import { readItem } from '../openai-responses.ts'

/**
 * LangChain stores a part of OpenAI Responses in `additional_kwargs`: the reasoning as `reasoning`, and calls
 * of OpenAI's tools with their results as `tool_outputs`. Newer releases repeat some of it in the content.
 */

/** The parts of the content, preceded by the reasoning that only `additional_kwargs` has. */
export function partsOf(message: Fields): readonly unknown[] {
  const parts = manyOf(message.content ?? message.content_blocks)
  const { reasoning } = fieldsOf(message.additional_kwargs)
  if (!isRecord(reasoning)) return parts
  const at = parts.findLastIndex((part) => fieldsOf(part).type === 'reasoning')
  if (at < 0) return [...thoughtsOf(message), ...parts]
  const { type: _, summary: __, content: ___, ...about } = reasoning
  return parts.with(at, { ...about, ...fieldsOf(parts[at]) })
}

const NONE: readonly Fields[] = []

/** The reasoning in `additional_kwargs` as content parts. */
export function thoughtsOf({ additional_kwargs }: Fields): readonly Fields[] {
  const { reasoning } = fieldsOf(additional_kwargs)
  if (!isRecord(reasoning)) return NONE
  const { type: _, summary, content, ...about } = reasoning
  const texts = [...listOf(summary), ...listOf(content)].map(fieldsOf)
  return (texts.length > 0 ? texts : [{}]).map(({ text, index }, place) => ({
    ...(place === 0 && about),
    type: 'reasoning',
    reasoning: stringOf(text),
    index: index ?? place,
  }))
}

/** Finishes a stream's reasoning blocks when the next item has more: each item counts its parts from 0. */
export function finishThoughts(choice: Choice, { additional_kwargs }: Fields): void {
  const { id } = fieldsOf(fieldsOf(additional_kwargs).reasoning)
  if (!id) return
  for (const [key, { type, start }] of choice.open ?? [])
    if (type === 'reasoning' && start.id !== id) finishPart(choice, key)
}

/**
 * The blocks of `tool_outputs` of a whole message.
 *
 * @param calls The tool calls outside the content.
 */
export function readToolOutputs(message: Fields, calls: readonly ContentBlock[]): readonly ContentBlock[] {
  const choice = choiceOf(createDraft(true))
  addToolOutputs(choice, message, calls)
  return choice.content
}

/** Adds the calls of `tool_outputs` and their results, without calls and images that are listed elsewhere. */
export function addToolOutputs(
  choice: Choice,
  { content, additional_kwargs }: Fields,
  calls?: readonly ContentBlock[],
): void {
  const { tool_outputs } = fieldsOf(additional_kwargs)
  if (!tool_outputs) return
  const known = new Set([...listOf(content), ...(calls ?? blocksOf(choice))].map((part) => fieldsOf(part).id))
  for (const item of listOf(tool_outputs).map(fieldsOf)) {
    const { type, id, call_id, result } = item
    if (call_id && known.has(call_id) && stringOf(type).endsWith('_call')) continue
    readItem(choice, undefined, result && known.has(id) ? { ...item, result: undefined } : item)
  }
}
