import type { Usage } from '../../../messages/index.ts'
import { isRecord } from '../../../messages/record.ts'
import { type CallKey, createCallKeys } from '../reading/calls.ts'
import { defineFormat } from '../reading/define.ts'
import { addHead, addMetadata, addPart, addUnknown, choiceOf } from '../reading/draft.ts'
import { collect, type Fields, fieldsOf, listOf, names, stringOf } from '../reading/fields.ts'
import { toRequest } from '../reading/request.ts'
import { addUsage } from '../reading/usage.ts'
import {
  addPieces,
  MESSAGE,
  REPEATED,
  readAnyMessage,
  readContent,
  readCounts,
  speakerOf,
  unwrapMessage,
} from './generic/message.ts'

/**
 * LangChain's messages, in JavaScript and Python: objects, envelopes and plain records, chunks, merged
 * chunks, `{ generations }`, lists and batches of messages, and the `[chunk, metadata]` pairs that LangGraph
 * streams.
 */
export const langchain = defineFormat({
  name: 'langchain',
  detect(value) {
    const [first] = generationsOf(value) ?? []
    const { messages, kwargs, generations } = fieldsOf(value)
    if (generations ?? first) return !generations && isChunk(fieldsOf(first).message) ? 'chunk' : 'response'
    const list = Array.isArray(value) ? value : (messages ?? fieldsOf(kwargs).messages)
    return [value, ...listOf(list).flat()].some(isMessage) ? 'request' : undefined
  },
  readRequest(request) {
    const given = fieldsOf(request)
    const fields = given.lc === 1 ? fieldsOf(given.kwargs) : given
    const { messages = fields.prompts } = fields
    const list = Array.isArray(request) ? request : isMessage(request) ? [request] : messages
    // The messages of a batch are a list in a list.
    const input = listOf(list).flat()
    const others = isMessage(request) ? {} : fields
    return toRequest(others, REQUEST, input.map(readAnyMessage), list)
  },
  unwrap(value) {
    const generations = generationsOf(value)
    return !generations || fieldsOf(value).generations ? value : { generations }
  },
  open(draft) {
    const callKeys: CallKey[] = []
    let total: Usage | undefined
    let provider: unknown

    function readGeneration(index: number, generation: Fields): Usage | undefined {
      const { text, message: raw = { type: 'ai', content: text }, generationInfo } = generation
      const message = unwrapMessage(raw)
      const { id, name, response_metadata, additional_kwargs } = message
      const info = generationInfo ?? generation.generation_info
      const about = info ? { ...fieldsOf(info), ...fieldsOf(response_metadata) } : fieldsOf(response_metadata)
      const more = fieldsOf(additional_kwargs)
      addHead(draft, { id, model: about.model_name ?? about.model ?? more.model }, ID)
      provider ??= about.model_provider
      const choice = choiceOf(draft, index)
      if (choice.open) addPieces(choice, message, (callKeys[index] ??= createCallKeys()))
      else for (const block of readContent(message)) addPart(choice, undefined, block)
      const { incomplete_details, stop_reason = more.stop_reason } = about
      const { stopReason = stop_reason } = { ...about, ...fieldsOf(about.messageStop) }
      const reason =
        about.finish_reason || about.finishReason || about.done_reason || stopReason || about.status
      choice.reason = fieldsOf(incomplete_details).reason || reason || choice.reason
      addMetadata(choice, about, ABOUT)
      addMetadata(choice, { name, additional_kwargs: collect(undefined, more, REPEATED) }, ID)
      addMetadata(choice, message, MESSAGE)
      const counts = fieldsOf(message.usage_metadata ?? about.tokenUsage ?? about.token_usage)
      // The last chunk of Anthropic's repeats the cached tokens of the input, and has no input.
      const isRepeated = total?.inputTokens && counts.input_tokens === 0
      return readCounts(isRepeated ? { ...counts, input_token_details: undefined } : counts)
    }

    return (result) => {
      const { generations, llmOutput = result.llm_output } = result
      if (!Array.isArray(generations)) {
        addUnknown(draft, result)
        return
      }
      const output = fieldsOf(llmOutput)
      if (llmOutput) addHead(draft, { ...output, model: output.model_name }, ABOUT)
      addHead(draft, result, RESULT)
      // A batch has one list of choices for each prompt.
      const prompts = generations.some(Array.isArray) ? generations : [generations]
      let index = 0
      let sum: Usage | undefined
      for (const prompt of prompts) {
        let used: Usage | undefined
        for (const generation of listOf(prompt)) {
          const counted = readGeneration(index, fieldsOf(generation))
          used ??= counted
          index += 1
        }
        if (used) sum = sum ? addUsage(sum, used) : used
      }
      sum ??= readCounts(output.tokenUsage ?? output.token_usage)
      if (!sum) return
      draft.usage = total = total ? addCounts(total, sum, provider) : sum
    }
  },
})

/**
 * Adds the counts of a chunk. Some providers send cumulative counts; Anthropic does so for the output only.
 */
function addCounts(total: Usage, next: Usage, provider: unknown): Usage {
  const grown = next.outputTokens >= total.outputTokens
  if (grown && next.inputTokens > 0 && next.inputTokens >= total.inputTokens) return next
  const { outputTokens: _, outputDetails: __, ...input } = total
  return addUsage(grown && provider === 'anthropic' ? { ...input, outputTokens: 0 } : total, next)
}

const ID = names('id')
const ABOUT = names('model_name tokenUsage token_usage')
const RESULT = names('generations llmOutput llm_output type lc id kwargs run')
const REQUEST = names('messages prompts lc lc_serializable lc_kwargs lc_namespace')

const TYPES = names('human ai system tool function chat remove')

function isMessage(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { lc, id, kwargs, type, content, data } = value
  if (lc === 1) return isRecord(kwargs) && Array.isArray(id) && isType(id.at(-1))
  return (content !== undefined || isRecord(data)) && isType(type)
}

const isType = (type: unknown): boolean =>
  typeof type === 'string' && (TYPES.has(type) || /Message(Chunk)?$/.test(type))

const isAnswer = (value: unknown): boolean =>
  isMessage(value) && speakerOf(unwrapMessage(value)) === 'assistant'

const isChunk = (value: unknown): boolean => {
  const { type, lc_namespace, tool_call_chunks } = unwrapMessage(value)
  return stringOf(type).endsWith('Chunk') || !!(lc_namespace && tool_call_chunks)
}

/** The generations of a value, if all its messages are the model's: each message in an object. */
function generationsOf(value: unknown): readonly unknown[] | undefined {
  const { generations, messages, message } = fieldsOf(value)
  if (Array.isArray(generations)) return generations
  if (isAnswer(message)) return [value]
  if (Array.isArray(value) && isMessage(value[0]) && isRecord(value[1]) && !isMessage(value[1]))
    // LangGraph streams each message with metadata about where it comes from.
    return generationsOf(value[0])
  const list = isMessage(value) ? [value] : Array.isArray(value) ? value.flat() : listOf(messages)
  return list.length > 0 && list.every(isAnswer) ? list.map((message) => ({ message })) : undefined
}
