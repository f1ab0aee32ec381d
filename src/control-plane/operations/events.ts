import * as z from 'zod/mini'
import { reportError, sseResponse } from '../../core/http/index.ts'
import { LAST_EVENT_ID, onAbort } from '../api/headers.ts'
import { refusal } from '../errors.ts'
import type { EventType } from '../events/stream.ts'
import { deploymentEvents, parseCursor } from '../events/stream.ts'
import { described, textQuery, UUID } from '../wire/common.ts'
import { DEPLOYMENTS_TAG } from '../wire/deployment.ts'
import { commaSeparated, onDeployment, revisionOfDeployment } from './on-deployment.ts'

const TYPES: readonly EventType[] = ['status', 'build', 'deploy']

export const streamEvents = onDeployment('GET', '/v2/deployments/:deployment_id/events', {
  summary: 'Stream Events',
  tag: DEPLOYMENTS_TAG,

  description:
    "Server-sent events: 'status' for each change of the status of the deployment and its revisions, 'build' for each line of the build log of the newest revision, 'deploy' for each line of the log of the servers, and at last 'deleted'. It begins with what is kept. The header Last-Event-ID goes on behind an event.",
  query: z.object({
    revision_id: z.optional(described(UUID, 'Only what is of this revision.')),
    types: textQuery("Some of 'status', 'build' and 'deploy', separated by commas."),
  }),
  headers: LAST_EVENT_ID,
  answers: { 200: { mediaType: 'text/event-stream' } },
  errors: [400, 404],
  run: async (deployment, { query, call }, context) => {
    const { closing, onError } = context
    const types = typesOf(query.types)
    const lastEventId = call.request.headers.get('last-event-id')
    const after = lastEventId ? parseCursor(lastEventId) : undefined
    for (const id of [query.revision_id, after?.revisionId])
      if (id != null) await revisionOfDeployment(context, deployment, id)

    const ended = new AbortController()
    const stops = [closing, call.signal].map((signal) => onAbort(signal, () => ended.abort(signal?.reason)))
    const source = deploymentEvents(context, {
      deploymentId: deployment.id,
      owner: deployment.owner,
      types,
      revisionId: query.revision_id,
      after,
    })
    const cancel = () => {
      for (const stop of stops) stop()
      source.cancel()
    }
    return sseResponse(
      { next: source.next, cancel },
      { signal: ended.signal, onError: (error) => reportError(error, onError) },
    )
  },
})

function typesOf(text: string | undefined): ReadonlySet<EventType> {
  const types = (commaSeparated(text) ?? TYPES).map((type) => TYPES.find((known) => known === type))
  if (types.includes(undefined)) throw refusal(400, `'types' must be some of ${TYPES.join(', ')}.`)
  return new Set(types as EventType[])
}
