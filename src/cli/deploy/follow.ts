import type { Plane } from './client.ts'
import { eventsOf } from './events.ts'

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
