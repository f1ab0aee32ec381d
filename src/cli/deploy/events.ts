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

/**
 * How often a lost stream is reopened before the command gives up, and the delay between attempts, in
 * milliseconds.
 */
const ATTEMPTS = 20
const WAIT_MS = 500

/**
 * A deployment's events, from the first stored one. After a lost connection, it continues after the last one.
 */
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
      // The first request shows whether there is a control plane at all.
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

/** How a revision ended. */
export interface Outcome {
  readonly status: string
  readonly reason: string | null
}

const IS_FINAL = /^(?:DEPLOYED|\w+_FAILED|SKIPPED|INTERRUPTED)$/

/** Shows each status of a revision and the lines of its build. Resolves when the revision has ended. */
export async function followRevision(
  plane: Plane,
  { deploymentId, revisionId }: { readonly deploymentId: string; readonly revisionId: string },
  show: (line: string) => void,
): Promise<Outcome> {
  const began = performance.now()
  const query = `types=status,build&revision_id=${revisionId}`
  for await (const { event, data } of eventsOf(plane, deploymentId, query)) {
    if (event === 'build') show(`  │ ${data.message.replaceAll('\n', '\n  │ ')}`)
    if (event !== 'status' || data.id !== revisionId) continue
    const { status, reason } = data
    const isFinal = IS_FINAL.test(status)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    // The caller tells the reason of the last status.
    show(`  ${status.padEnd(15)} ${seconds} s${reason && !isFinal ? `  ${reason}` : ''}`)
    if (isFinal) return { status, reason }
  }
  return { status: 'DELETED', reason: 'The deployment was deleted.' }
}
