import { inputOf } from '../face/json-schema.ts'
import type { RouteDescriptions } from '../http/index.ts'
import { chatSchema, stopSchema } from './wire.ts'

/**
 * The routes of the AI SDK's chats for the OpenAPI document. The package `ai` defines the messages and
 * chunks.
 */
export const DESCRIPTIONS: RouteDescriptions = {
  'POST /chat': {
    summary: 'Sends a message of a chat, edits one, has one answered again, or goes on with an answer.',
    body: inputOf(chatSchema),
    answers: {},
    streams: true,
  },
  'GET /chat/:thread_id': {
    summary: 'The messages of a chat.',
    answers: {
      200: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            role: { enum: ['user', 'assistant'] },
            metadata: { type: 'object' },
            parts: { type: 'array', items: { type: 'object' } },
          },
          required: ['id', 'role', 'parts'],
        },
      },
    },
  },
  'GET /chat/:thread_id/stream': {
    summary: 'The answer that goes on, from its beginning.',
    answers: { 204: null },
    streams: true,
  },
  'POST /chat/:thread_id/stop': {
    summary: 'Stops the answer that goes on.',
    body: inputOf(stopSchema),
    answers: { 204: null },
  },
}
