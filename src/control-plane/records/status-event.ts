import type { LogEvent, Op } from '../../storage/index.ts'
import type { DeploymentRecord, RevisionRecord } from './records.ts'

/** A status change, as the log of the deployment's partition stores it and as webhooks send it. */
export interface StatusEvent {
  readonly deploymentId: string
  /** Absent if the status is the deployment's. */
  readonly revisionId?: string | undefined
  /** `DELETED` is a deployment's last status. */
  readonly status: DeploymentRecord['status'] | RevisionRecord['status'] | 'DELETED'
  /** Milliseconds since 1970. */
  readonly at: number
  readonly reason?: string | undefined
}

/** Further ops for the commit of a change, such as those of a webhook. */
export type OpsOf = (event: StatusEvent) => readonly Op[]

export const STATUS_TOPIC = 'status'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The events are not fenced by their token: the guards of their commit decide. */
export const statusOp = (events: readonly StatusEvent[]): Op => ({
  op: 'append',
  token: 0,
  events: events.map(
    (event): LogEvent => ({ topic: STATUS_TOPIC, data: encoder.encode(JSON.stringify(event)) }),
  ),
})

export const readStatusEvent = (data: Uint8Array): StatusEvent => JSON.parse(decoder.decode(data))
