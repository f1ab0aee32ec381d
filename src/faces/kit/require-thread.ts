import { HttpError } from '../../core/http/index.ts'
import type { ThreadRecord } from '../../engine/index.ts'
import type { FaceCall, FaceContext } from './routes.ts'

/** The thread that a request names, if its principal can access it. Throws `HttpError` 404. */
export async function requireThread(
  { engine }: Pick<FaceContext, 'engine'>,
  call: FaceCall,
): Promise<ThreadRecord> {
  const thread = await engine.findThread(call)
  if (thread) return thread
  throw threadNotFound(call.threadId)
}

export const threadNotFound = (threadId: string): HttpError =>
  new HttpError(404, 'not_found', `Thread with ID ${threadId} not found`)
