import type { ContentBlock, Message, Usage } from '../../../../messages/index.ts'
import { countOf } from '../../../../messages/usage.ts'
import { collect, type Fields, fieldsOf, listOf, manyOf, names, stringOf, toText } from '../../fields.ts'
import type { ModelRequest } from '../../format.ts'
import { readBlock, toCall, toResult, vocabulary } from '../../reading/blocks.ts'
import { defineFormat } from '../../reading/define.ts'
import {
  addError,
  addHead,
  addMore,
  addPart,
  addUnknown,
  type Choice,
  choiceOf,
  createDraft,
} from '../../reading/draft.ts'
import { contentOf, roleOf, systemMessages, toRequest, toToolMessage } from '../../reading/request.ts'
import { laterCounts } from '../../reading/usage.ts'
import { readUsage } from './usage.ts'

/** Google's Interactions API. Each content of a step, or of the `outputs` of version 1, becomes a block. */
export const geminiInteractions = defineFormat({
  name: 'geminiInteractions',
  provider: 'google',
  detect(value) {
    const fields = fieldsOf(value)
    const { event_type, object, steps, status, input } = fields
    if (/^(interaction|step|content)\.|^error$/.test(stringOf(event_type))) return 'chunk'
    if (object === 'interaction' || (Array.isArray(steps) && status)) return 'response'
    const own = Object.keys(fields).some((key) => OWN.has(key)) || listOf(input).some(isStep)
    return input && own ? 'request' : undefined
  },
  readRequest,
  open(draft) {
    const places: Place[] = []
    let counts: Fields | undefined

    function readAbout(about: Fields, steps: unknown): void {
      const { status, errors } = about
      addHead(draft, about, RESPONSE)
      const choice = choiceOf(draft)
      for (const [at, step] of listOf(steps).entries()) readStep(choice, createPlace(at), fieldsOf(step))
      if (status && status !== 'in_progress')
        choice.reason = status === 'requires_action' ? 'tool_calls' : status
      if (status === 'failed' && listOf(errors)[0]) addError(draft, listOf(errors)[0])
    }

    return (event) => {
      const { event_type: type, content, step = content, index, delta, metadata } = event
      const at = typeof index === 'number' ? index : step ? places.length : Math.max(0, places.length - 1)
      const interaction = fieldsOf(event.interaction)
      const usage = event.usage ?? interaction.usage ?? fieldsOf(metadata).total_usage
      if (!type) readAbout(event, event.steps ?? event.outputs)
      else if (event.interaction)
        readAbout(interaction, places.length > 0 ? [] : (interaction.steps ?? interaction.outputs))
      else if (type === 'interaction.status_update') readAbout({ status: event.status }, [])
      else if (type === 'error') addError(draft, event.error ?? event)
      else if (step) readStep(choiceOf(draft), (places[at] = createPlace(at)), fieldsOf(step))
      else if (delta) readDelta(choiceOf(draft), (places[at] ??= createPlace(at)), fieldsOf(delta))
      else if (!/\.stop$/.test(stringOf(type))) addUnknown(draft, event)
      if (usage) {
        counts = laterCounts(counts, usage)
        addHead(draft, { usage: counts })
        draft.usage = countsOf(counts)
      }
    }
  },
})

const OWN = names('system_instruction generation_config previous_interaction_id agent')
const RESPONSE = names(
  'id steps outputs input tools system_instruction output_text output_image output_audio output_video',
)
const REQUEST = names('input system_instruction')
const TURN = names('type role content call_id name result is_error')
const THOUGHT = names('type summary content')
const CALL = names('type id name arguments')
const RESULT = names('type call_id result is_error')

const VOCABULARY = vocabulary(
  { text: 'text', image: 'image', audio: 'audio', video: 'video', file: 'document' },
  { url: 'uri', base64: 'data', mimeType: 'mime_type' },
)

const isStep = (value: unknown): boolean =>
  /^(user_input|model_output|thought|\w+_(call|result))$/.test(stringOf(fieldsOf(value).type))

const readPart = (part: unknown): ContentBlock => readBlock(part, VOCABULARY)

/** A streamed step: its index, and the number and type of its last block. */
interface Place {
  readonly at: number
  count: number
  type: string | undefined
}

const createPlace = (at: number): Place => ({ at, count: 0, type: undefined })

/** Adds a content of a step. Consecutive pieces of text or audio are one block. */
function addContent(choice: Choice, place: Place, part: unknown, whole: boolean): void {
  const block = readPart(part)
  if (whole || place.type !== block.type || !/^(text|audio)$/.test(block.type)) place.count += 1
  place.type = block.type
  addPart(choice, `${place.at}/${place.count}`, block)
}

function readStep(choice: Choice, place: Place, step: Fields): void {
  const type = stringOf(step.type)
  if (type === 'model_output') {
    for (const part of listOf(step.content)) addContent(choice, place, part, !choice.open)
  } else if (VOCABULARY.types.has(type)) addContent(choice, place, step, !choice.open)
  else {
    const block = type === 'thought' ? readThought(step, step.summary) : readAction(step)
    addPart(choice, place.at, block ?? { type: 'nonStandard', value: step })
  }
}

function readThought(fields: Fields, summary: unknown): ContentBlock {
  const text = listOf(summary).map((part) => stringOf(fieldsOf(part).text))
  const extras = collect(undefined, fields, THOUGHT)
  return { type: 'reasoning', text: text.join(''), ...(extras && { extras }) }
}

function readAction(step: Fields): ContentBlock | undefined {
  const { id, name, arguments: args, call_id, result, is_error } = step
  const type = stringOf(step.type)
  if (type === 'function_call') return toCall('toolCall', id, name, args, collect(undefined, step, CALL))
  if (type.endsWith('_call'))
    return toCall('serverToolCall', id, name ?? type.slice(0, -5), args, collect({ type }, step, CALL))
  if (!type.endsWith('_result')) return undefined
  return toResult(call_id, is_error, result, collect({ type }, step, RESULT))
}

function readDelta(choice: Choice, place: Place, delta: Fields): void {
  const { type, arguments: args, annotations, content, ...others } = delta
  const key = `${place.at}/${place.count}`
  if (type === 'arguments_delta') addMore(choice, place.at, toText(args))
  else if (type === 'text_annotation_delta')
    addPart(choice, key, readBlock({ type: 'text', text: '', annotations }, VOCABULARY))
  else if (type === 'thought_summary' || type === 'thought_signature')
    addPart(choice, place.at, readThought(others, [content]))
  else if (VOCABULARY.types.has(type)) addContent(choice, place, delta, false)
  else {
    // The step has sent its name at its start, so the empty one is ignored.
    const action = readAction({ name: '', ...delta })
    if (action) addPart(choice, place.at, action)
    else addMore(choice, place.at, undefined, delta)
  }
}

function readRequest(request: unknown): ModelRequest {
  const { generation_config: config, ...fields } = fieldsOf(request)
  const { input, system_instruction: system } = fields
  const messages = systemMessages(system, readPart)
  /** The current message of the model, and of the user: consecutive steps of one speaker are one message. */
  let turn: Choice | undefined
  let said: ContentBlock[] | undefined
  const list = manyOf(input)
  for (const [at, value] of list.entries()) {
    const step = fieldsOf(value)
    const own = step.role || step.type === 'user_input' || step.type === 'function_result'
    if (!isStep(step) || own) turn = undefined
    if (isStep(step) || own) said = undefined
    if (own) messages.push(readTurn(step))
    else if (isStep(step)) {
      if (!turn) messages.push({ role: 'assistant', content: (turn = choiceOf(createDraft(true))).content })
      readStep(turn, createPlace(at), step)
    } else {
      if (!said) messages.push({ role: 'user', content: (said = []) })
      said.push(readPart(value))
    }
  }
  return toRequest({ ...fields, ...fieldsOf(config) }, REQUEST, messages, input ? [] : input, 'input')
}

function readTurn(step: Fields): Message {
  const { type, role, content, call_id, name, result, is_error } = step
  const extras = collect(undefined, step, TURN)
  if (type !== 'function_result')
    return { role: roleOf(role), content: contentOf(content, readPart), ...(extras && { extras }) }
  const answer: ContentBlock[] = Array.isArray(result)
    ? contentOf(result, readPart)
    : [{ type: 'text', text: toText(result) }]
  return toToolMessage(call_id, is_error, answer, extras, name)
}

/** Renames the counts to those of `generateContent`. Some servers include the thoughts in the output. */
function countsOf(usage: Fields): Usage | undefined {
  const { total_input_tokens, total_output_tokens, total_thought_tokens, total_tool_use_tokens } = usage
  const output = countOf(total_output_tokens)
  const thoughts = countOf(total_thought_tokens)
  const all = countOf(total_input_tokens) + countOf(total_tool_use_tokens) + output + thoughts
  const inside = usage.total_tokens !== undefined && countOf(usage.total_tokens) < all
  return readUsage({
    promptTokenCount: total_input_tokens,
    promptTokensDetails: usage.input_tokens_by_modality,
    toolUsePromptTokenCount: total_tool_use_tokens,
    toolUsePromptTokensDetails: usage.tool_use_tokens_by_modality,
    cachedContentTokenCount: usage.total_cached_tokens,
    cacheTokensDetails: usage.cached_tokens_by_modality,
    candidatesTokenCount: inside ? Math.max(0, output - thoughts) : total_output_tokens,
    candidatesTokensDetails: usage.output_tokens_by_modality,
    thoughtsTokenCount: total_thought_tokens,
  })
}
