import * as z from 'zod/mini'
import { HttpError, sourceOf, sseResponse } from '../../../core/http/index.ts'
import { readBy } from '../../kit/body.ts'
import { reporterOf } from '../../kit/errors.ts'
import { requireThread } from '../../kit/require-thread.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { encodeFrames } from '../frames/read-frames.ts'
import { positionOf, type ThreadMode, threadFrames } from './read-thread.ts'

const modesSchema = /* @__PURE__ */ z.array(/* @__PURE__ */ z.enum(['run_modes', 'lifecycle']))

/**
 * `GET /threads/{thread_id}/stream?stream_mode`, with `Last-Event-ID`: the thread's events from now on or
 * after an id, run after run. It ends only when the client disconnects.
 */
export async function joinThread(context: PlatformContext, call: FaceCall): Promise<Response> {
  const { threadId, principal } = call
  const asked = call.url.searchParams.getAll('stream_mode').filter((mode) => mode !== '')
  const modes = readBy(modesSchema, asked, (message) => {
    throw new HttpError(400, 'invalid_argument', `stream_mode: ${message}`)
  })
  await requireThread(context, call)
  const lastEventId = call.request.headers.get('last-event-id') ?? undefined
  const from = await positionOf(context.engine, call, lastEventId)
  const request = { threadId, principal, modes: modes.length > 0 ? modes : DEFAULT_MODES, from }
  const source = sourceOf((signal) => encodeFrames(threadFrames(context, { ...request, signal })))
  const response = sseResponse(source, { signal: call.signal, onError: reporterOf(context, call) })
  // LangGraph's clients reconnect here: a path relative to the server URL that they use.
  response.headers.set('location', `/threads/${encodeURIComponent(threadId)}/stream${call.url.search}`)
  return response
}

const DEFAULT_MODES: readonly ThreadMode[] = ['run_modes']
