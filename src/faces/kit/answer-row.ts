import type { Call } from '../../core/http/index.ts'
import { warnOpen } from '../../core/http/security.ts'
import { internalsOf } from '../../engine/index.ts'
import { permit } from './access.ts'
import { asking } from './asking.ts'
import { bodyOf } from './body.ts'
import { threadIdOf } from './ids.ts'
import type { Schema } from './parse.ts'
import type { FaceContext, FaceRow } from './routes.ts'

/** Answers a request: checks its thread id, asks for the permission, checks the body, and runs the row. */
export async function answerRow<Context extends FaceContext>(
  whole: Context,
  { path, permission, resource: resourceOf, body: schema, run }: FaceRow<Context>,
  call: Call,
): Promise<Response> {
  if (permission !== 'public' && call.principal === null) warnOpen()
  const context = asking(whole, call)
  const isOfThread = path.includes('/:thread_id')
  const threadId = isOfThread ? threadIdOf(call.params.thread_id) : ''
  let permitted = call
  if (permission !== null && permission !== 'public' && context.authorize) {
    const resource = resourceOf ? await resourceOf(context, call) : isOfThread ? { threadId } : {}
    permitted = await permit(context.authorize, call, permission, resource, call.json)
  }
  const body = typeof schema === 'object' ? await bodyOf(schema as unknown as Schema, permitted) : undefined
  const response = await run(context, { ...permitted, threadId, body: body as never })
  keepRunning(context, call, threadId)
  return response
}

/**
 * Keeps the process of a host that stops it once it has sent all responses, such as Workers, until its run of the
 * thread has ended. Routes with `:thread_id` need not call it.
 */
export function keepRunning(
  { engine }: Pick<FaceContext, 'engine'>,
  call: Pick<Call, 'waitUntil'>,
  threadId: string,
): void {
  const work = internalsOf(engine).working(threadId)
  if (work) call.waitUntil(work)
}
