import { AgentwireError } from '../../core/errors.ts'
import { eventLoopTurns } from '../../core/time.ts'
import type { ChannelVersion, Checkpointer, CheckpointMetadata, CheckpointTuple } from './checkpointer.ts'

const MESSAGE = /* @__PURE__ */ Symbol.for('langchain.message')
const ABSENT = /* @__PURE__ */ Symbol('absent')
const MAX_DEPTH = 1000

/**
 * A copy that shares nothing mutable with `value`. Parts that equal the same part of `previous`, an earlier
 * copy, are taken from it; if everything is equal, the result is `previous` itself. So a history of states
 * costs only its changes.
 *
 * It copies arrays, plain objects, Map, Set, Date, RegExp, buffers and their views, LangChain messages, and
 * LangGraph's marked classes (`Send`, `DeltaSnapshot`). Other class instances are assumed to be immutable and
 * are shared.
 */
export function copy<T>(value: T, previous?: unknown): T {
  return copyAt(value, previous, 0) as T
}

/** Whether `value` has the same structure and values as `kept`, an earlier copy. */
export function equalsCopy(value: unknown, kept: unknown): boolean {
  return Object.is(copyAt(value, kept, 0), kept)
}

type Keyed = Record<PropertyKey, unknown>

function copyAt(value: unknown, previous: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) {
    throw new AgentwireError(
      'invalid_argument',
      `A state may not be circular or deeper than ${MAX_DEPTH} levels.`,
    )
  }
  if (Array.isArray(value)) return copyArray(value, previous, depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null || isMarked(value)) {
    return copyObject(value as Keyed, prototype as object | null, previous, depth)
  }
  if (value instanceof Map) {
    const before = previous instanceof Map ? [...previous] : undefined
    const entries = copyArray([...value], before, depth)
    return entries === before ? previous : new Map(entries as [unknown, unknown][])
  }
  if (value instanceof Set) {
    const before = previous instanceof Set ? [...previous] : undefined
    const members = copyArray([...value], before, depth)
    return members === before ? previous : new Set(members)
  }
  if (value instanceof Uint8Array) {
    // Not value.slice(): a Node Buffer's slice shares its memory.
    return sameBytes(value, previous) ? previous : Uint8Array.prototype.slice.call(value)
  }
  if (value instanceof Date) {
    return previous instanceof Date && Object.is(previous.getTime(), value.getTime())
      ? previous
      : new Date(value)
  }
  if (value instanceof RegExp || value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return structuredClone(value)
  return value
}

/** Instances of known data classes, which can be copied by their prototype and own properties. */
function isMarked(value: object): boolean {
  return (value as Keyed)[MESSAGE] === true || typeof (value as Keyed).lg_name === 'string'
}

function copyArray(value: readonly unknown[], previous: unknown, depth: number): readonly unknown[] {
  const before = Array.isArray(previous) ? (previous as readonly unknown[]) : []
  let out: unknown[] | undefined = previous === before && before.length === value.length ? undefined : []
  for (let i = 0; i < value.length; i++) {
    const item = copyAt(value[i], before[i], depth + 1)
    if (out) out.push(item)
    else if (!Object.is(item, before[i])) {
      out = before.slice(0, i)
      out.push(item)
    }
  }
  return out ?? before
}

function copyObject(value: Keyed, prototype: object | null, previous: unknown, depth: number): unknown {
  if (!isLike(previous, prototype)) return changedCopy(value, prototype, depth, undefined, 0, undefined)
  let same = 0
  // Most of a state is unchanged, so this must be fast: `for in` creates no list of keys, and inherited
  // properties are equal.
  for (const key in value) {
    const kept = previous[key]
    const item = copyAt(value[key], kept, depth + 1)
    if (!Object.is(item, kept) || (mayBeInherited(item) && !Object.hasOwn(previous, key)))
      return changedCopy(value, prototype, depth, previous, same, item)
    same++
  }
  if (countKeys(previous) === same) return previous
  return changedCopy(value, prototype, depth, previous, same, undefined)
}

/** A copy whose first `same` fields come from `before`. The next field is `changed`. */
function changedCopy(
  value: Keyed,
  prototype: object | null,
  depth: number,
  before: Keyed | undefined,
  same: number,
  changed: unknown,
): Keyed {
  const out = blank(value, prototype)
  const keys = Object.keys(value)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    if (before && i < same) define(out, key, before[key])
    else if (before && i === same) define(out, key, changed)
    else
      define(
        out,
        key,
        copyAt(value[key], before && Object.hasOwn(before, key) ? before[key] : ABSENT, depth + 1),
      )
  }
  return out
}

/** A missing property may look like undefined or like an inherited function. */
const mayBeInherited = (value: unknown): boolean => value === undefined || typeof value === 'function'

function countKeys(value: Keyed): number {
  let count = 0
  for (const _ in value) count++
  return count
}

function isLike(previous: unknown, prototype: object | null): previous is Keyed {
  if (typeof previous !== 'object' || previous === null || previous === Object.prototype) return false
  return Object.getPrototypeOf(previous) === prototype
}

function blank(value: Keyed, prototype: object | null): Keyed {
  const out = (prototype === Object.prototype ? {} : Object.create(prototype)) as Keyed
  if (Object.hasOwn(value, MESSAGE)) out[MESSAGE] = true
  return out
}

/** Assigns a property without calling an inherited setter such as `__proto__`. */
function define(target: Keyed, key: string, value: unknown): void {
  if (key in target)
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

function sameBytes(value: Uint8Array, previous: unknown): boolean {
  if (!(previous instanceof Uint8Array) || previous.length !== value.length) return false
  return (
    Object.getPrototypeOf(previous) === Object.getPrototypeOf(value) &&
    value.every((byte, i) => byte === previous[i])
  )
}

interface ThreadCopy {
  readonly from: string
  readonly to: string
}

/**
 * Copies all checkpoints and writes of a thread to another thread id and keeps the checkpoint ids. Parents
 * come before their children, and only one checkpoint is in memory at a time. Checkpoints that are deleted
 * concurrently are skipped, and no copy names a parent that is missing.
 */
export async function copyCheckpoints(
  source: Checkpointer,
  target: Checkpointer,
  { from, to }: ThreadCopy,
): Promise<void> {
  const turn = eventLoopTurns()
  const places: CheckpointTuple['config'][] = []
  for await (const { config } of source.list({ configurable: { thread_id: from } })) {
    places.push(config)
    await turn()
  }
  const versions = new Map<string, Readonly<Record<string, ChannelVersion>>>()
  for (const place of places.reverse()) {
    await turn()
    const tuple = await source.getTuple(place)
    if (!tuple) continue
    const { checkpoint, metadata, parentConfig, pendingWrites = [] } = tuple
    const namespace = String(place.configurable?.checkpoint_ns ?? '')
    const parentId: unknown = parentConfig?.configurable?.checkpoint_id
    const address = { thread_id: to, checkpoint_ns: namespace }
    // A thread that was shortened names a parent that is not there, on which nothing can be saved.
    const parent = versions.get(JSON.stringify([namespace, parentId]))
    const before = parent ?? {}
    const changed = Object.entries(checkpoint.channel_versions).filter(
      ([channel, version]) => !Object.hasOwn(before, channel) || before[channel] !== version,
    )
    await target.put(
      { configurable: { ...address, ...(parent && { checkpoint_id: parentId }) } },
      checkpoint,
      movedMetadata(metadata, { from, to }),
      Object.fromEntries(changed),
    )
    versions.set(JSON.stringify([namespace, checkpoint.id]), checkpoint.channel_versions)
    const byTask = new Map<string, [string, unknown][]>()
    for (const [taskId, channel, value] of pendingWrites)
      byTask.set(taskId, [...(byTask.get(taskId) ?? []), [channel, value]])
    for (const [taskId, writes] of byTask)
      await target.putWrites({ configurable: { ...address, checkpoint_id: checkpoint.id } }, writes, taskId)
  }
}

/** Runs write their thread id to the metadata of their checkpoints. */
function movedMetadata(metadata: CheckpointTuple['metadata'], { from, to }: ThreadCopy): CheckpointMetadata {
  const known = (metadata ?? {}) as CheckpointMetadata & { readonly thread_id?: unknown }
  return known.thread_id === from ? { ...known, ...{ thread_id: to } } : known
}
