import { nearest } from '../../core/nearest.ts'
import { RunError } from '../errors.ts'
import type { Matcher, Topic } from './frame.ts'

const CHANNELS: readonly string[] = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
]

/**
 * Which events a subscriber wants. The field names and their meaning are those of the protocol's
 * `SubscribeParams`.
 */
export interface EventFilter {
  /**
   * `values`, `updates`, `messages`, `tools`, `lifecycle`, `input`, `checkpoints`, `tasks`, `custom`,
   * `custom:<name>`.
   */
  readonly channels: readonly string[]
  /**
   * Prefixes of event namespaces; none or empty means all. A segment without `:` matches by the name before
   * the colon.
   */
  readonly namespaces?: readonly (readonly string[])[] | undefined
  /** How many segments below a prefix still match. Ignored without `namespaces`. */
  readonly depth?: number | undefined
  /**
   * Whether `lifecycle` only includes events of the run itself, not of its nested namespaces. Default: false.
   */
  readonly rootLifecycle?: boolean | undefined
}

/**
 * Throws `invalid_argument` for a filter that can never match an event. Unknown channels beside a known one
 * are ignored: a newer client may ask for channels that are not known here.
 */
export function checkChannels({ channels }: EventFilter): void {
  const isKnown = (name: string) => CHANNELS.includes(name) || name.startsWith('custom:')
  const [first] = channels
  if (first === undefined || channels.some(isKnown)) return
  const meant = nearest(first, CHANNELS)
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
  throw new RunError(
    'invalid_argument',
    `channels: no channel is named ${JSON.stringify(first)}.${hint} There are ${CHANNELS.join(', ')} and custom:<name>.`,
  )
}

export function createMatcher({
  channels,
  namespaces = [],
  depth,
  rootLifecycle = false,
}: EventFilter): Matcher {
  const wanted = new Set(channels)
  const prefixes = namespaces.map((prefix) => prefix.map(segmentMatcher))
  const inNamespaces = (namespace: readonly string[]) =>
    prefixes.length === 0 ||
    prefixes.some(
      (prefix) =>
        startsWith(namespace, prefix) && (depth === undefined || namespace.length - prefix.length <= depth),
    )
  const isBelow = ({ method, namespace }: Topic) => method === 'lifecycle' && namespace.length > 0
  return (topic) =>
    wantsChannel(wanted, topic) && inNamespaces(topic.namespace) && !(rootLifecycle && isBelow(topic))
}

function wantsChannel(wanted: ReadonlySet<string>, { method, detail }: Topic): boolean {
  if (method === 'chunks') return false
  if (method === 'input.requested') return wanted.has('input')
  return wanted.has(method) || (method === 'custom' && detail !== undefined && wanted.has(`custom:${detail}`))
}

type SegmentMatcher = (segment: string) => boolean

const startsWith = (namespace: readonly string[], prefix: readonly SegmentMatcher[]): boolean =>
  prefix.length <= namespace.length && prefix.every((matches, i) => matches(namespace[i]!))

function segmentMatcher(wanted: string): SegmentMatcher {
  const name = wanted.includes(':') ? undefined : `${wanted}:`
  return (segment) => segment === wanted || (name !== undefined && segment.startsWith(name))
}
