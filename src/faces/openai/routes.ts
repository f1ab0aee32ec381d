import { type FaceRow, route } from '../kit/routes.ts'
import { postChat } from './chat/post.ts'
import { deleteConversation, getConversation, patchConversation, postConversation } from './conversations.ts'
import { deleteItem, getItem, listItems, postItems } from './items/endpoints.ts'
import { getModel, listModels } from './models.ts'
import type { OpenAiContext } from './options.ts'
import { countTokens, listInputItems } from './responses/input.ts'
import { cancelResponse, deleteResponse, getResponse } from './responses/kept.ts'
import { postResponse } from './responses/post.ts'
import {
  chatSchema,
  conversationPatchSchema,
  conversationSchema,
  itemsSchema,
  responseSchema,
  tokensSchema,
} from './wire.ts'

const text = { type: 'string' }

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
