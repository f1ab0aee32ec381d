import { expect } from 'vitest'
import type { AgentEvent } from '../../src/messages/thread-events/index.ts'

interface Block {
  readonly type: string
  readonly [field: string]: unknown
}

/** An artifact, without the id of the run that wrote it. */
export interface Artifact {
  readonly id: string
  readonly name?: string
  readonly content: readonly Block[]
}

type Payload = { readonly id: string } & (
  | { readonly event: 'artifact-start'; readonly [about: string]: unknown }
  | { readonly event: 'artifact-delta'; readonly block: Block; readonly append?: boolean }
  | { readonly event: 'artifact-finish' }
)

type Sent = Pick<AgentEvent, 'method' | 'namespace' | 'data'>

/** The payloads of the channel `custom:artifact`. */
export const payloads = (events: readonly Sent[]): readonly Payload[] =>
  events.flatMap(({ method, data }) => {
    const { name, payload } = data as { readonly name?: unknown; readonly payload?: Payload }
    return method === 'custom' && name === 'artifact' ? [payload!] : []
  })

/** The finished artifacts of a namespace, as a reader assembles them from their events. */
export function artifactsOf(events: readonly Sent[], namespace = ''): readonly Artifact[] {
  const open = new Map<string, Artifact>()
  const finished = new Map<string, Artifact>()
  for (const { event, id, ...rest } of payloads(
    events.filter((one) => one.namespace.join('|') === namespace),
  )) {
    if (event === 'artifact-start') open.set(id, { id, ...rest, content: [] })
    else {
      const artifact = open.get(id)
      if (!artifact) throw new Error(`${event} of ${id} without its start.`)
      if (event === 'artifact-finish') {
        finished.set(id, artifact)
        open.delete(id)
      } else open.set(id, { ...artifact, content: withBlock(artifact.content, rest as never) })
    }
  }
  return [...finished.values()]
}

function withBlock(
  content: readonly Block[],
  { block, append }: { readonly block: Block; readonly append?: boolean },
): readonly Block[] {
  if (!append) return [...content, block]
  const last = content.at(-1)!
  expect([last.type, block.type]).toEqual(['text', 'text'])
  return content.with(-1, { ...last, text: `${last.text}${block.text}` })
}

/** The artifacts of a state, or of its key. */
export const artifactsIn = (artifacts: unknown): readonly Artifact[] =>
  ((artifacts ?? []) as readonly (Artifact & { readonly run_id: string })[]).map(
    ({ run_id, ...artifact }) => {
      expect(run_id).toMatch(/./)
      return artifact
    },
  )
