import type { StatusEvent } from '../../records/stored.ts'

/** The webhook events, by the new status. Within one millisecond they are sent in this order. */
export const WEBHOOK_EVENT_TYPES = [
  'deployment.awaiting_database',
  'deployment.ready',
  'deployment.unused',
  'deployment.unknown',
  'deployment.revision.creating',
  'deployment.revision.queued',
  'deployment.revision.awaiting_build',
  'deployment.revision.building',
  'deployment.revision.awaiting_deploy',
  'deployment.revision.deploying',
  'deployment.revision.deployed',
  'deployment.revision.create_failed',
  'deployment.revision.build_failed',
  'deployment.revision.deploy_failed',
  'deployment.revision.skipped',
  'deployment.revision.interrupted',
  'deployment.revision.unknown',
  'deployment.awaiting_delete',
  'deployment.awaiting_final_delete',
  'deployment.deleted',
] as const

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number]

export const eventType = ({ revisionId, status }: StatusEvent): WebhookEventType =>
  `deployment.${revisionId === undefined ? '' : 'revision.'}${status.toLowerCase()}` as WebhookEventType

/** The order of a deployment's events. */
export const orderOf = (event: StatusEvent): number =>
  event.at * 100 + WEBHOOK_EVENT_TYPES.indexOf(eventType(event))

/** A message's body. It contains no secrets, and nothing of the source. */
export const payloadOf = (event: StatusEvent): string =>
  JSON.stringify({
    type: eventType(event),
    deployment_id: event.deploymentId,
    revision_id: event.revisionId ?? null,
    status: event.status,
    reason: event.reason ?? null,
    at: new Date(event.at).toISOString(),
  })
