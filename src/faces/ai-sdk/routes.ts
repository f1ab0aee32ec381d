import type { RouteDescriptions } from '../../core/http/index.ts'
import { inputOf } from '../kit/json-schema.ts'
import { chatSchema, stopSchema } from './wire.ts'

/**
 * The routes of the AI SDK's chats for the OpenAPI document. The package `ai` defines the messages and
 * chunks.
 */
export const DESCRIPTIONS: RouteDescriptions = {
  'POST /chat': {
    summary: 'Send a message of a chat, edit one, regenerate an answer, or continue one.',
    body: inputOf(chatSchema),
    answers: {},
    streams: true,
  },
  'GET /chat/:thread_id': {
    summary: 'Get the messages of a chat.',
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
    summary: 'Stream the active answer from its beginning.',
    answers: { 204: null },
    streams: true,
  },
  'POST /chat/:thread_id/stop': {
    summary: 'Stop the active answer.',
    body: inputOf(stopSchema),
    answers: { 204: null },
  },
}
