import { type FaceRow, route } from '../kit/routes.ts'
import { getMessages, getStream, postStop } from './endpoints.ts'
import type { AiSdkContext } from './options.ts'
import { postChat } from './post-chat.ts'
import { chatSchema, stopSchema } from './wire.ts'

/** The package `ai` defines the messages and chunks. */
export const ROUTES: readonly FaceRow<AiSdkContext>[] = [
  route('POST', '/chat', {
    // The thread is in the body.
    permission: null,
    summary: 'Send a message of a chat, edit one, regenerate an answer, or continue one.',
    body: chatSchema,
    streams: true,
    run: postChat,
  }),
  route('GET', '/chat/:thread_id', {
    permission: 'threads:read',
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
    run: getMessages,
  }),
  route('GET', '/chat/:thread_id/stream', {
    permission: 'threads:stream',
    summary: 'Stream the active answer from its beginning.',
    answers: { 204: null },
    streams: true,
    run: getStream,
  }),
  route('POST', '/chat/:thread_id/stop', {
    permission: 'runs:cancel',
    summary: 'Stop the active answer.',
    body: stopSchema,
    answers: { 204: null },
    run: postStop,
  }),
]
