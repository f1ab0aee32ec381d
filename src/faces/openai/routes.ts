import { json } from '../../core/http/index.ts'
import { withoutMetadataFilter } from '../../core/principal.ts'
import { type AssistantRecord, findAssistant, searchAssistants } from '../../engine/assistants/index.ts'
import { itemsOf } from '../../messages/record.ts'
import { permit } from '../kit/access.ts'
import { type FaceCall, type FaceRow, route } from '../kit/routes.ts'
import { modelOf } from './begin.ts'
import { postChat } from './chat/post.ts'
import { deleteConversation, getConversation, patchConversation, postConversation } from './conversations.ts'
import { noSuchModel } from './errors.ts'
import { deleteItem, getItem, itemsOfState, listItems, pageOf, postItems } from './items/endpoints.ts'
import type { OpenAiContext } from './options.ts'
import { postResponse } from './responses/post.ts'
import { cancelResponse, deleteResponse, getResponse, storedResponse } from './responses/stored-response.ts'
import { messagesOfRun } from './state.ts'
import {
  chatSchema,
  conversationPatchSchema,
  conversationSchema,
  itemsSchema,
  responseSchema,
  type TokensBody,
  tokensSchema,
} from './wire.ts'

const text = { type: 'string' }

/** `GET /v1/responses/{id}/input_items`: the messages of the conversation up to the answer. */
async function listInputItems(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { run, details, principal } = await storedResponse(context, call, 'runs:read')
  const { engine } = context
  const { threadId, runId } = run
  const thread = await engine.findThread({ threadId, principal })
  let messages: readonly unknown[] = []
  if (thread)
    for await (const { values } of engine.readHistory(thread, {}, { limit: 1, filter: { run_id: runId } }))
      messages = itemsOf(values.messages)
  const [first] = messagesOfRun(messages, details.after)
  const end = first ? messages.findIndex((one) => Object(one).id === first.id) : messages.length
  return json(pageOf(call, itemsOfState(messages.slice(0, end))))
}

/** Most tokenizers make one of about this many characters. */
const CHARACTERS = 4

/** `POST /v1/responses/input_tokens`: an estimate, because agents choose their models and prompts themselves. */
async function countTokens(_: OpenAiContext, { body }: FaceCall<TokensBody>): Promise<Response> {
  const { input = '', instructions = '', tools = [] } = body
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const length = text.length + instructions.length + (tools.length > 0 ? JSON.stringify(tools).length : 0)
  return json({ object: 'response.input_tokens', input_tokens: Math.ceil(length / CHARACTERS) })
}

const MAX_MODELS = 1_000

/**
 * `GET /v1/models`: the assistants that take messages. System assistants are listed under their agents'
 * names.
 */
async function listModels({ engine }: OpenAiContext, { principal }: FaceCall): Promise<Response> {
  const fits = ({ graphId }: AssistantRecord) => {
    const agent = engine.agents.get(graphId)
    return agent !== undefined && agent.takesMessages !== false
  }
  const { items } = await searchAssistants(engine, principal, { offset: 0, limit: MAX_MODELS, fits })
  return json({ object: 'list', data: items.map(modelFor) })
}

/** `GET /v1/models/{id}`. */
async function getModel(context: OpenAiContext, call: FaceCall): Promise<Response> {
  const { engine, authorize } = context
  const name = call.params.model ?? ''
  const { graphId } = await modelOf(context, withoutMetadataFilter(call.principal), name)
  const { principal } = await permit(authorize, call, 'assistants:read', { assistantId: graphId })
  const assistant = await findAssistant(engine, principal, name)
  if (!assistant) throw noSuchModel(name)
  return json({ ...modelFor(assistant), id: name })
}

const modelFor = ({ assistantId, graphId, isSystem, name, createdAt }: AssistantRecord) => ({
  id: isSystem ? graphId : assistantId,
  object: 'model',
  created: Math.floor(createdAt / 1_000),
  owned_by: 'agentwire',
  name,
})

const objectOf = (object: string, ...required: readonly string[]) => ({
  type: 'object',
  properties: { id: text, object: { const: object } },
  required: ['object', ...required],
})

const list = {
  ...objectOf('list', 'data'),
  properties: { object: { const: 'list' }, data: { type: 'array' } },
}
const response = objectOf('response', 'id', 'status', 'output')
const conversation = objectOf('conversation', 'id', 'created_at', 'metadata')

const PAGE = {
  limit: { type: 'integer', minimum: 0, maximum: 100 },
  order: { enum: ['asc', 'desc'] },
  after: text,
} as const

/** OpenAI documents the complete bodies. Where a permission is null, the body or the id decides its resource. */
export const ROUTES: readonly FaceRow<OpenAiContext>[] = [
  route('GET', '/v1/models', {
    permission: 'assistants:search',
    summary: 'List the assistants that take messages.',
    answers: { 200: list },
    run: listModels,
  }),
  route('GET', '/v1/models/:model', {
    permission: null,
    summary: 'Get an assistant as a model.',
    answers: { 200: objectOf('model', 'id', 'created', 'owned_by') },
    run: getModel,
  }),
  route('POST', '/v1/chat/completions', {
    permission: null,
    summary: 'Create a chat completion.',
    body: chatSchema,
    answers: { 200: objectOf('chat.completion', 'id', 'choices') },
    streams: true,
    run: postChat,
  }),
  route('POST', '/v1/responses', {
    permission: null,
    summary: 'Create a response.',
    body: responseSchema,
    answers: { 200: response },
    streams: true,
    run: postResponse,
  }),
  route('POST', '/v1/responses/input_tokens', {
    permission: 'assistants:search',
    summary: 'Estimate the tokens of an input.',
    body: tokensSchema,
    answers: { 200: objectOf('response.input_tokens', 'input_tokens') },
    run: countTokens,
  }),
  route('GET', '/v1/responses/:response_id', {
    permission: null,
    summary: 'Get a response, or its events.',
    query: { stream: { type: 'boolean' }, starting_after: { type: 'integer', minimum: 0 } },
    answers: { 200: response },
    streams: true,
    run: getResponse,
  }),
  route('GET', '/v1/responses/:response_id/input_items', {
    permission: null,
    summary: 'List the messages before the answer of a response.',
    query: PAGE,
    answers: { 200: list },
    run: listInputItems,
  }),
  route('POST', '/v1/responses/:response_id/cancel', {
    permission: null,
    summary: 'Cancel a response.',
    answers: { 200: response },
    run: cancelResponse,
  }),
  route('DELETE', '/v1/responses/:response_id', {
    permission: null,
    summary: 'Delete a response.',
    answers: { 200: objectOf('response', 'id', 'deleted') },
    run: deleteResponse,
  }),
  route('POST', '/v1/conversations', {
    permission: null,
    summary: 'Create a conversation.',
    body: conversationSchema,
    answers: { 200: conversation },
    run: postConversation,
  }),
  route('GET', '/v1/conversations/:conversation_id', {
    permission: null,
    summary: 'Get a conversation.',
    answers: { 200: conversation },
    run: getConversation,
  }),
  route('POST', '/v1/conversations/:conversation_id', {
    permission: null,
    summary: 'Update the metadata of a conversation.',
    body: conversationPatchSchema,
    answers: { 200: conversation },
    run: patchConversation,
  }),
  route('DELETE', '/v1/conversations/:conversation_id', {
    permission: null,
    summary: 'Delete a conversation.',
    answers: { 200: objectOf('conversation.deleted', 'id', 'deleted') },
    run: deleteConversation,
  }),
  route('GET', '/v1/conversations/:conversation_id/items', {
    permission: null,
    summary: 'List the messages of a conversation.',
    query: PAGE,
    answers: { 200: list },
    run: listItems,
  }),
  route('POST', '/v1/conversations/:conversation_id/items', {
    permission: null,
    summary: 'Add items to a conversation. The next response takes them as the start of its input.',
    body: itemsSchema,
    answers: { 200: list },
    run: postItems,
  }),
  route('GET', '/v1/conversations/:conversation_id/items/:item_id', {
    permission: null,
    summary: 'Get an item of a conversation.',
    answers: { 200: { type: 'object' } },
    run: getItem,
  }),
  route('DELETE', '/v1/conversations/:conversation_id/items/:item_id', {
    permission: null,
    summary: 'Delete an item that no response has taken.',
    answers: { 200: conversation },
    run: deleteItem,
  }),
]
