import type { LogOrigin } from '../storage/store/store.ts'

/** What subscribers filter an event by. Stored beside the event, so that nobody opens its bytes to route it. */
export interface Topic {
  readonly method: string
  readonly namespace: readonly string[]
  readonly runId: string
  /** The name of a `custom` event, the interrupt id of an `input.requested` event. */
  readonly detail: string | undefined
}

export const formatTopic = (topic: Topic): string =>
  JSON.stringify([topic.method, topic.namespace, topic.runId, topic.detail])

const parsed = new WeakMap<LogOrigin, Topic>()

/** Stores share origin objects between events, so each is parsed once. */
export function topicOf(origin: LogOrigin): Topic {
  let topic = parsed.get(origin)
  if (topic === undefined) {
    const [method, namespace, runId, detail] = JSON.parse(origin.topic) as [
      string,
      string[],
      string,
      string | null,
    ]
    topic = { method, namespace, runId, detail: detail ?? undefined }
    parsed.set(origin, topic)
  }
  return topic
}
