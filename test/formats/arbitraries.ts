import fc from 'fast-check'
import { anyCharacter } from '../kit/arbitraries.ts'
import { runs } from '../kit/runs.ts'

/** The number of runs of each property. */
export const RUNS = runs(120)

/** Text with characters that can be split in the middle. */
export const text = fc.string({ minLength: 1, maxLength: 24, unit: anyCharacter })

export const name = fc.constantFrom('add', 'look_up', 'f', 'constructor')

/** The raw arguments of a call, some of them cut off or no object. */
export const rawArgs = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
      .map((args) => JSON.stringify(args)),
  },
  fc.constantFrom('', '{"a":', '[1]', 'null', '{"a":"b"'),
)

/** The arguments of a call as an object, without negative zero, which JSON does not have. */
export const args = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
  .map((args) => JSON.parse(JSON.stringify(args)) as Record<string, unknown>)

/** A number of tokens, or another value in its place. */
export const count = fc.oneof(
  fc.nat({ max: 5000 }),
  fc.constantFrom(0, null, undefined, -5, 1.5, Number.NaN, 'many', 1e300),
)

/** Fields that no provider has. Every value is unique, so that the test finds it again in the JSON text. */
export const unknown = (level: string) =>
  fc
    .array(fc.nat({ max: 999 }), { maxLength: 2 })
    .map((ids) =>
      Object.fromEntries(ids.map((id) => [`x_${level}_${id}`, [`mark-${level}-${id}`, { deep: null }]])),
    )

/** An endless list of numbers that decide where to cut and what comes next. */
export const picks = fc.infiniteStream(fc.nat({ max: 1000 }))

/** Cuts text into pieces. */
export function pieces(value: string, picks: Iterator<number>): string[] {
  const cut: string[] = []
  for (let at = 0; at < value.length; ) {
    const length = 1 + (picks.next().value % 7)
    cut.push(value.slice(at, at + length))
    at += length
  }
  return cut
}

/** Interleaves lists. Each keeps its order and starts after the one before it has started. */
export function interleave<Item>(lists: readonly (readonly Item[])[], picks: Iterator<number>): Item[] {
  const places = lists.map(() => 0)
  const merged: Item[] = []
  for (;;) {
    const ready = lists.flatMap((list, index) => {
      const before = index === 0 || places[index - 1]! > 0 || lists[index - 1]!.length === 0
      return before && places[index]! < list.length ? [index] : []
    })
    if (ready.length === 0) return merged
    const index = ready[picks.next().value % ready.length]!
    merged.push(lists[index]![places[index]!]!)
    places[index]! += 1
  }
}

const FIELDS =
  'id type index choices message delta content role text refusal reasoning_content reasoning_details annotations audio data tool_calls function function_call custom name arguments input usage prompt_tokens completion_tokens prompt_tokens_details cached_tokens total_tokens input_tokens output_tokens iterations cache_creation error code finish_reason response item output output_index content_index summary_index summary output_text part annotation result status incomplete_details reason call_id messages system instructions tools stop model content_block partial_json citation citations thinking signature source stop_reason tool_use_id image_url url object prompt candidates parts text thought thoughtSignature functionCall functionResponse executableCode codeExecutionResult inlineData mimeType contents systemInstruction usageMetadata promptTokensDetails modality groundingMetadata groundingChunks groundingSupports groundingChunkIndices segment serverContent modelTurn partialArgs jsonPath stringValue willContinue promptFeedback blockReason messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop metadata contentBlockIndex start toolUse toolResult toolUseId reasoningContent reasoningText redactedContent citationsContent guardContent source bytes s3Location location cacheDetails inferenceConfig throttlingException body chunk toolCalls finishReason tool_plan citations content_index tokens billed_units done response event_type step steps call_id is_error interaction prompt_eval_count eval_count images tool_name options lc kwargs generations additional_kwargs tool_call_chunks response_metadata usage_metadata extras finishReason steps toolCallId toolName inputTokens outputTokens providerMetadata mediaType file'.split(
    ' ',
  )
const VALUES =
  'text step.start step.delta interaction.completed model_output thought code_execution_call code_execution_result message-start content-start content-delta tool-plan-delta tool-call-start citation-start message-end reference tool_use tool_result thinking message message_start message_delta content_block_start content_block_delta content_block_stop error ping text_delta input_json_delta response.created response.completed response.output_item.added response.output_item.done response.output_text.delta response.function_call_arguments.delta response.x.delta response function_call reasoning custom_tool_call code_interpreter_call image_generation_call mcp_call web_search_tool_result image document refusal custom image_url assistant user tool stop null data:image/png;base64,AAAA ai AIMessage AIMessageChunk tool_call server_tool_result text-delta text-end tool-call tool-result tool-input-delta finish-step finish source __proto__ constructor'.split(
    ' ',
  )

/** Any value made of the providers' field names and types, in the wrong places. */
export const garbage = fc.object({
  key: fc.constantFrom(...FIELDS, '__proto__', 'toString'),
  values: [fc.constantFrom(...VALUES), fc.integer(), fc.boolean(), fc.constant(null), fc.constant('')],
  maxDepth: 5,
  maxKeys: 8,
})
