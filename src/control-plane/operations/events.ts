import { reportError, sseResponse } from '../../http/index.ts'
import { operation } from '../api/operation.ts'
import { refusal } from '../errors.ts'
import { parseCursor } from '../events/cursor.ts'
import type { EventType } from '../events/pages.ts'
import { deploymentEvents } from '../events/stream.ts'
import { DEPLOYMENT_PATH, ERROR, STRING, UUID } from '../wire/common.ts'
import { DEPLOYMENTS_TAG } from '../wire/deployment.ts'
import { findDeployment, revisionOfDeployment } from './find.ts'
import { listOf } from './lists.ts'

const TYPES: readonly EventType[] = ['status', 'build', 'deploy']

export const streamEvents = /* @__PURE__ */ operation(
  {
    method: 'GET',
    path: '/v2/deployments/{deployment_id}/events',
    tag: DEPLOYMENTS_TAG,
    summary: 'Stream Events',
    description:
      "Server-sent events: 'status' for each change of the status of the deployment and its revisions, 'build' for each line of the build log of the newest revision, 'deploy' for each line of the log of the servers, and at last 'deleted'. It begins with what is kept. The header Last-Event-ID goes on behind an event.",
    params: DEPLOYMENT_PATH,
    query: {
      properties: {
        revision_id: { ...UUID, description: 'Only what is of this revision.' },
        types: { ...STRING, description: "Some of 'status', 'build' and 'deploy', separated by commas." },
      },
    },
    responses: { 200: { mediaType: 'text/event-stream' }, 400: ERROR, 404: ERROR },
  },
  async (context, input) => {
    const { query, call } = input
    const { closing, onError } = context
    const deployment = await findDeployment(context, input)
    const types = typesOf(query.types)
    const lastEventId = call.request.headers.get('last-event-id')
    const after = lastEventId ? parseCursor(lastEventId) : undefined
    for (const id of [query.revision_id, after?.revisionId])
      if (id != null) await revisionOfDeployment(context, deployment, id)

    const ended = new AbortController()
    const end = () => ended.abort(closing.aborted ? closing.reason : call.signal?.reason)
    for (const signal of [closing, call.signal]) signal?.addEventListener('abort', end)
    if (closing.aborted || call.signal?.aborted) end()
    const source = deploymentEvents(context, {
      deploymentId: deployment.id,
      owner: deployment.owner,
      types,
      revisionId: query.revision_id,
      after,
    })
    const cancel = () => {
      for (const signal of [closing, call.signal]) signal?.removeEventListener('abort', end)
      source.cancel()
    }
    return sseResponse(
      { next: source.next, cancel },
      { signal: ended.signal, onError: (error) => reportError(error, onError) },
    )
  },
)

function typesOf(text: string | undefined): ReadonlySet<EventType> {
  const types = (listOf(text) ?? TYPES).map((type) => TYPES.find((known) => known === type))
  if (types.includes(undefined)) throw refusal(400, `'types' must be some of ${TYPES.join(', ')}.`)
  return new Set(types as EventType[])
}
