import type { Topic } from './frame.ts'

/** Which events a subscriber wants. The field names and their meaning are the protocol's `SubscribeParams`. */
export interface EventFilter {
  /** `values`, `updates`, `messages`, `tools`, `lifecycle`, `input`, `checkpoints`, `tasks`, `custom`, `custom:<name>`. */
  readonly channels: readonly string[]
  /** Prefixes of event namespaces; none or empty = all. A segment without `:` matches by the name before the colon. */
  readonly namespaces?: readonly (readonly string[])[] | undefined
  /** How many segments below a prefix still match. Ignored without `namespaces`. */
  readonly depth?: number | undefined
}

export type Matcher = (topic: Topic) => boolean

export function createMatcher({ channels, namespaces = [], depth }: EventFilter): Matcher {
  const wanted = new Set(channels)
  const inNamespaces = (namespace: readonly string[]) =>
    namespaces.length === 0 ||
    namespaces.some(
      (prefix) =>
        startsWith(namespace, prefix) && (depth === undefined || namespace.length - prefix.length <= depth),
    )
  return (topic) => wantsChannel(wanted, topic) && inNamespaces(topic.namespace)
}

function wantsChannel(wanted: ReadonlySet<string>, { method, detail }: Topic): boolean {
  if (method === 'input.requested') return wanted.has('input')
  return wanted.has(method) || (method === 'custom' && detail !== undefined && wanted.has(`custom:${detail}`))
}

const startsWith = (namespace: readonly string[], prefix: readonly string[]): boolean =>
  prefix.length <= namespace.length && prefix.every((segment, i) => sameSegment(segment, namespace[i]!))

const sameSegment = (wanted: string, segment: string): boolean =>
  wanted === segment || (!wanted.includes(':') && segment.startsWith(`${wanted}:`))
