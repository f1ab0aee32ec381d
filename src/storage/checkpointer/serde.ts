/** Converts values to bytes and back. Structurally LangGraph's `SerializerProtocol`. */
export interface Serde {
  dumpsTyped(data: unknown): Promise<[type: string, data: Uint8Array]>
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>
}

/**
 * JSON in the format of LangGraph's `JsonPlusSerializer`, so each reads what the other wrote. Revives
 * undefined, Set, Map, RegExp, Error, Uint8Array, `DeltaSnapshot` and, unlike LangGraph, Date. LangChain
 * objects are written completely and read as plain `lc: 1` records. `langgraph()` reads them as instances. If
 * you use LangGraph alone, give the storage `serde: new MemorySaver().serde`.
 */
export const jsonSerde: Serde = {
  async dumpsTyped(data) {
    if (data instanceof Uint8Array) return ['bytes', data]
    return ['json', new TextEncoder().encode(JSON.stringify(data, encode))]
  },
  async loadsTyped(type, data) {
    if (type === 'bytes') return typeof data === 'string' ? new TextEncoder().encode(data) : data
    if (type !== 'json') throw new TypeError(`Unknown serialization type: ${type}`)
    const text = textOf(data)
    return reviveAll(JSON.parse(text), text)
  },
}

/** `jsonSerde` that also revives LangChain objects, with `load` for each `lc: 1` record. */
export function reviving(load: (record: object) => Promise<unknown>): Serde {
  return {
    ...jsonSerde,
    async loadsTyped(type, data) {
      if (type !== 'json') return jsonSerde.loadsTyped(type, data)
      const text = textOf(data)
      const root = { value: JSON.parse(text) as unknown }
      if (text.includes('"lc":1')) {
        const records = [...findRecords(root)]
        const loaded = await Promise.all(records.map(({ node, key }) => load(node[key] as object)))
        for (const [i, { node, key }] of records.entries()) node[key] = loaded[i]
      }
      return reviveAll(root.value, text)
    },
  }
}

function textOf(data: Uint8Array | string): string {
  return typeof data === 'string' ? data : new TextDecoder().decode(data)
}

/** A value parsed from `text`, with all records of `encode` revived. */
function reviveAll(value: unknown, text: string): unknown {
  return text.includes('"lc":2') ? revive(value) : value
}

type Node = Record<string, unknown>

/** The positions of the outermost `lc: 1` records. Their contents are left to the loader. */
function* findRecords(node: Node): Generator<{ readonly node: Node; readonly key: string }> {
  for (const key of Object.keys(node)) {
    const inner = node[key]
    if (!isPlain(inner)) continue
    if (inner.lc === 1 && inner.type === 'constructor' && Array.isArray(inner.id)) yield { node, key }
    else yield* findRecords(inner)
  }
}

/** What JSON.parse returns; no class instance. */
function isPlain(value: unknown): value is Node {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
}

/** Thrown for a value that contains a BigInt. */
export class BigIntError extends TypeError {
  constructor() {
    super('A BigInt cannot be written as JSON.')
  }
}

/** A replacer. JSON.stringify calls `toJSON` first, so a Date is read from its holder. */
function encode(this: unknown, key: string, value: unknown): unknown {
  if (value === undefined) return { lc: 2, type: 'undefined' }
  const original = (this as Record<string, unknown>)[key]
  // JSON has null for an invalid date.
  if (original instanceof Date && value !== null) return record('Date', [value])
  if (typeof value === 'bigint') throw new BigIntError()
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Set) return record('Set', [[...value]])
  if (value instanceof Map) return record('Map', [[...value]])
  if (value instanceof RegExp) return record('RegExp', [value.source, value.flags])
  if (value instanceof Error) return record('Error', [value.message])
  if (original instanceof Uint8Array) return record('Uint8Array', [Array.from(original)], 'from')
  const { lg_name: name } = value as { lg_name?: unknown }
  if (name === 'DeltaSnapshot')
    return { lc: 2, type: 'delta_snapshot', value: (value as { value?: unknown }).value }
  if (name === 'Send') {
    const { node, args, timeout } = value as Record<string, unknown>
    return timeout === undefined ? { node, args } : { node, args, timeout }
  }
  return value
}

interface LcRecord {
  readonly lc: 2
  readonly type: string
  readonly id?: unknown
  readonly method?: unknown
  readonly args?: unknown
  readonly value?: unknown
}

function record(name: string, args: readonly unknown[], method: string | null = null): object {
  return { lc: 2, type: 'constructor', id: [name], method, args, kwargs: {} }
}

/** Innermost first. Only the records that `encode` writes are revived; other records stay data. */
function revive(node: unknown): unknown {
  if (!isPlain(node)) return node
  for (const key of Object.keys(node)) {
    const inner = node[key]
    if (isPlain(inner)) node[key] = revive(inner)
  }
  return node.lc === 2 ? reviveRecord(node as unknown as LcRecord) : node
}

function reviveRecord(node: LcRecord): unknown {
  if (node.type === 'undefined') return undefined
  if (node.type === 'delta_snapshot' && Object.hasOwn(node, 'value')) {
    return { lg_name: 'DeltaSnapshot', value: node.value }
  }
  const { type, id, args } = node
  if (type !== 'constructor' || !Array.isArray(id) || id.length !== 1 || !Array.isArray(args)) return node
  const [first, second] = args as unknown[]
  const name: unknown = id[0]
  if (name === 'Uint8Array' && node.method === 'from') return isBytes(first) ? Uint8Array.from(first) : node
  if (node.method !== null && node.method !== undefined) return node
  if (name === 'Set' && Array.isArray(first)) return new Set(first)
  if (name === 'Map' && isEntries(first)) return new Map(first)
  if (name === 'Error' && typeof first === 'string') return new Error(first)
  if (name === 'Date' && typeof first === 'string' && !Number.isNaN(Date.parse(first))) return new Date(first)
  if (name === 'RegExp' && typeof first === 'string' && typeof second === 'string') {
    return toRegExp(first, second) ?? node
  }
  return node
}

function toRegExp(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags)
  } catch {
    // Not a record that `encode` wrote.
    return undefined
  }
}

function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
}

function isEntries(value: unknown): value is [unknown, unknown][] {
  return Array.isArray(value) && value.every((entry) => Array.isArray(entry) && entry.length === 2)
}
