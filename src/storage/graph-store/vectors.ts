import { AgentwireError } from '../../core/errors.ts'
import type { GraphStoreOptions, GraphStorePut } from './types.ts'

/** A vector of length 1 in 32-bit floats, as base64: a fifth of the size of its JSON. */
export type StoredVector = string

/** Vectors by text. */
export type Vectors = ReadonlyMap<string, Float32Array>

/** The texts of an item to embed. */
export function textsOf({ value, index }: GraphStorePut, { embed, fields }: GraphStoreOptions): string[] {
  if (!embed || value === null || index === false) return []
  const paths = index ?? fields ?? ['$']
  return [...new Set(paths.flatMap((path) => textsAt(value, path)))].filter((text) => text !== '')
}

/** Embeds each distinct text once. Throws `GraphStoreError` `embed_failed` for invalid vectors. */
export async function embedTexts(
  texts: Iterable<string>,
  { embed, dims }: GraphStoreOptions,
): Promise<Vectors> {
  const given = [...new Set(texts)]
  if (!embed || given.length === 0) return new Map()
  const made = await embed(given)
  const length = dims ?? made[0]?.length
  const isVector = (vector: unknown) =>
    Array.isArray(vector) && vector.length === length && length > 0 && vector.every(Number.isFinite)
  if (!Array.isArray(made) || made.length !== given.length || !made.every(isVector))
    throw new GraphStoreError(
      'embed_failed',
      `embed() must return one vector of ${length ?? 'equally many'} numbers for each of the ${given.length} texts.`,
    )
  return new Map(given.map((text, index) => [text, normalized(made[index]!)]))
}

function normalized(vector: readonly number[]): Float32Array {
  const size = Math.sqrt(vector.reduce((sum, part) => sum + part * part, 0))
  return Float32Array.from(vector, (part) => (size === 0 ? 0 : part / size))
}

export function encodeVector(vector: Float32Array): StoredVector {
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  let text = ''
  for (let at = 0; at < bytes.length; at += 8_192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}

/** The highest cosine similarity of an item's vectors. Undefined if none has this length. */
export function scoreOf(
  stored: readonly StoredVector[] | undefined,
  query: Float32Array,
): number | undefined {
  let best: number | undefined
  for (const text of stored ?? []) {
    const vector = decodeVector(text)
    // It is from an earlier model, before `embed` was changed.
    if (vector.length !== query.length) continue
    let score = 0
    for (let at = 0; at < vector.length; at++) score += vector[at]! * query[at]!
    if (best === undefined || score > best) best = score
  }
  return best
}

function decodeVector(text: StoredVector): Float32Array {
  const chars = atob(text)
  const bytes = new Uint8Array(chars.length)
  // A search decodes every vector under its prefix, and `Uint8Array.from` takes ten times as long.
  for (let at = 0; at < chars.length; at++) bytes[at] = chars.charCodeAt(at)
  return new Float32Array(bytes.buffer)
}

/**
 * The texts of a value at a path, with LangGraph's path syntax: `$` is the whole value as JSON, `a.b` a
 * field, `a[0]`, `a[-1]` and `a[*]` items of an array, `*` every field, `{a,b.c}` several paths. Other values
 * become JSON.
 */
function textsAt(value: unknown, path: string): string[] {
  if (path === '' || path === '$') return textOf(value)
  let found: unknown[] = [value]
  for (const step of stepsOf(path)) found = found.flatMap((at) => follow(at, step))
  return found.flatMap(textOf)
}

const stepsOf = (path: string): string[] => path.match(/\[[^[\]]*\]|\{[^{}]*\}|[^.[{]+/g) ?? []

function follow(at: unknown, step: string): unknown[] {
  if (step === '$') return [at]
  if (step.startsWith('[')) return Array.isArray(at) ? itemsOf(at, step.slice(1, -1)) : []
  if (typeof at !== 'object' || at === null) return []
  if (step === '*') return Object.values(at)
  if (step.startsWith('{'))
    return step
      .slice(1, -1)
      .split(',')
      .flatMap((path) =>
        stepsOf(path.trim()).reduce<unknown[]>(
          (from, next) => from.flatMap((one) => follow(one, next)),
          [at],
        ),
      )
  return Object.hasOwn(at, step) ? [(at as Readonly<Record<string, unknown>>)[step]] : []
}

function itemsOf(items: readonly unknown[], index: string): unknown[] {
  if (index === '*') return [...items]
  const at = Number.parseInt(index, 10)
  return Number.isNaN(at) ? [] : items.slice(at, at === -1 ? undefined : at + 1)
}

function textOf(found: unknown): string[] {
  if (found === null || found === undefined) return []
  return [typeof found === 'object' ? JSON.stringify(found, null, 2) : String(found)]
}

/**
 * Invalid use of the graph store: `invalid_namespace`, `invalid_key`, `invalid_value`, `invalid_argument`,
 * and `embed_failed` for invalid vectors.
 */
export class GraphStoreError extends AgentwireError {
  static override readonly brand = 'GraphStoreError'
}
