import type { RouteDescription, RouteDescriptions } from '../../core/http/index.ts'
import { inputOf } from '../kit/json-schema.ts'
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
const conversation: RouteDescription = {
  summary: 'Get a conversation.',
  answers: { 200: objectOf('conversation', 'id', 'created_at', 'metadata') },
}

const PAGE = {
  limit: { type: 'integer', minimum: 0, maximum: 100 },
  order: { enum: ['asc', 'desc'] },
  after: text,
} as const

/** The routes of this face for the OpenAPI document. OpenAI documents their complete bodies. */
export const DESCRIPTIONS: RouteDescriptions = {
  'GET /v1/models': { summary: 'List the assistants that take messages.', answers: { 200: list } },
  'GET /v1/models/:model': {
    summary: 'Get an assistant as a model.',
    answers: { 200: objectOf('model', 'id', 'created', 'owned_by') },
  },
  'POST /v1/chat/completions': {
    summary: 'Create a chat completion.',
    body: inputOf(chatSchema),
    answers: { 200: objectOf('chat.completion', 'id', 'choices') },
    streams: true,
  },
  'POST /v1/responses': {
    summary: 'Create a response.',
    body: inputOf(responseSchema),
    answers: { 200: response },
    streams: true,
  },
  'GET /v1/responses/:response_id': {
    summary: 'Get a response, or its events.',
    query: { stream: { type: 'boolean' }, starting_after: { type: 'integer', minimum: 0 } },
    answers: { 200: response },
    streams: true,
  },
  'POST /v1/responses/:response_id/cancel': { summary: 'Cancel a response.', answers: { 200: response } },
  'DELETE /v1/responses/:response_id': {
    summary: 'Delete a response.',
    answers: { 200: objectOf('response', 'id', 'deleted') },
  },
  'POST /v1/conversations': {
    ...conversation,
    summary: 'Create a conversation.',
    body: inputOf(conversationSchema),
  },
  'GET /v1/conversations/:conversation_id': conversation,
  'POST /v1/conversations/:conversation_id': {
    ...conversation,
    summary: 'Update the metadata of a conversation.',
    body: inputOf(conversationPatchSchema),
  },
  'DELETE /v1/conversations/:conversation_id': {
    summary: 'Delete a conversation.',
    answers: { 200: objectOf('conversation.deleted', 'id', 'deleted') },
  },
  'GET /v1/conversations/:conversation_id/items': {
    summary: 'List the messages of a conversation.',
    query: PAGE,
    answers: { 200: list },
  },
  'POST /v1/conversations/:conversation_id/items': {
    summary: 'Add items to a conversation. The next response takes them as the start of its input.',
    body: inputOf(itemsSchema),
    answers: { 200: list },
  },
  'GET /v1/conversations/:conversation_id/items/:item_id': {
    summary: 'Get an item of a conversation.',
    answers: { 200: { type: 'object' } },
  },
  'DELETE /v1/conversations/:conversation_id/items/:item_id': {
    summary: 'Delete an item that no response has taken.',
    answers: { 200: objectOf('conversation', 'id', 'created_at', 'metadata') },
  },
  'GET /v1/responses/:response_id/input_items': {
    summary: 'List the messages before the answer of a response.',
    query: PAGE,
    answers: { 200: list },
  },
  'POST /v1/responses/input_tokens': {
    summary: 'Estimate the tokens of an input.',
    body: inputOf(tokensSchema),
    answers: { 200: objectOf('response.input_tokens', 'input_tokens') },
  },
}
