import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Plane } from './client.ts'

export type PlaneEvent =
  | {
      readonly event: 'status'
      readonly data: {
        readonly type: 'revision' | 'deployment'
        readonly id: string
        readonly status: string
        readonly reason: string | null
      }
    }
  | {
      readonly event: 'build' | 'deploy'
      readonly data: { readonly message: string; readonly level: string }
    }
  | { readonly event: 'deleted'; readonly data: object }

/** How often a lost stream is opened again before the command gives up, and how long it waits, in milliseconds. */
const ATTEMPTS = 20
const WAIT_MS = 500

/** The events of a deployment, from the first that is kept on. It goes on behind the last one after a lost connection. */
export async function* eventsOf(
  plane: Plane,
  deploymentId: string,
  query: string,
): AsyncGenerator<PlaneEvent> {
  let last: string | undefined
  let failed = 0
  for (;;) {
    try {
      for await (const { id, event, data } of await openEvents(plane, deploymentId, query, last)) {
        failed = 0
        last = id ?? last
        yield { event, data: JSON.parse(data) } as PlaneEvent
        if (event === 'deleted') return
      }
    } catch (error) {
      // The first request says whether there is a control plane at all.
      if (last === undefined || ++failed === ATTEMPTS) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
}

async function openEvents(plane: Plane, id: string, query: string, last: string | undefined) {
  const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last }
  const { body } = await plane.open(`/v2/deployments/${id}/events?${query}`, headers)
  return body!
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream()) as AsyncIterable<{
    id?: string
    event?: string
    data: string
  }> &
    ReadableStream
}
