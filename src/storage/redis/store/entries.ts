import type { Doc, DocIndex } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Keys } from '../keys.ts'
import { DOCUMENTS } from './scripts-store.ts'

export interface Entry {
  readonly set: string
  readonly member: string
  /** For a set ordered by time: the time from now, in milliseconds. */
  readonly ttlMs?: number | undefined
  /** Appended to the member, after the time. */
  readonly tail?: string | undefined
}

/** A document's place, and the stamp of the put that created it. */
export interface Place {
  readonly collection: string
  readonly partition: string
  readonly id: string
  readonly stamp: string
}

/**
 * A document's directory entries: a member by place and one for each index field. Each put has its own
 * members with its own stamp, so the members of an earlier put can be removed at any later time.
 */
export function entriesOf(keys: Keys, place: Place, index: DocIndex): Entry[] {
  const { collection, partition, id, stamp } = place
  const rest = [toText(partition), toText(id), stamp].join('\0')
  return [
    { set: keys.collection(collection), member: rest },
    ...Object.entries(index).map(([field, value]) => ({
      set: keys.collection(collection, field),
      member: `${keyOf(value)}\0${rest}`,
    })),
  ]
}

export function expiringEntry(keys: Keys, { collection, partition, id, stamp }: Place): Entry {
  return { set: keys.expiring, member: [toText(collection), toText(partition), toText(id), stamp].join('\0') }
}

export function readExpiring(member: string): Place {
  const [collection, partition, id, stamp] = member.split('\0') as [string, string, string, string]
  return { collection: fromText(collection), partition: fromText(partition), id: fromText(id), stamp }
}

/** Reads a collection's member, with or without a key in front. */
export function readMember(member: string): Omit<Place, 'collection'> {
  const [partition, id, stamp] = member.split('\0').slice(-3) as [string, string, string]
  return { partition: fromText(partition), id: fromText(id), stamp }
}

const scratch = new DataView(new ArrayBuffer(8))

/** Text whose byte order is the order of index field values: numbers first. */
export function keyOf(value: string | number): string {
  if (typeof value === 'string') return `s${toText(value)}`
  // Not -0, which is the same number.
  scratch.setFloat64(0, value === 0 ? 0 : value)
  const bits = scratch.getBigUint64(0)
  const ordered = bits >> 63n ? ~bits & 0xffff_ffff_ffff_ffffn : bits | (1n << 63n)
  return `n${ordered.toString(16).padStart(16, '0')}`
}

/** The field of a document in its partition. */
export const fieldOf = (collection: string, id: string): string => `${toText(collection)}\0${toText(id)}`

export function readField(field: string): [collection: string, id: string] {
  const [collection, id] = field.split('\0') as [string, string]
  return [fromText(collection), fromText(id)]
}

/** The values of a hash's fields, null for missing ones, and the server's time. */
export async function loadFields({ run }: Database, hash: string, fields: readonly string[]) {
  const answer = await run({ script: DOCUMENTS, keys: [hash], args: fields })
  const [now, ...found] = answer as [number, ...(Uint8Array | null)[]]
  return { now, found }
}

export interface KeptDoc {
  readonly doc: Doc
  readonly stamp: string
  /** 0 if it never expires. */
  readonly expiresAt: number
}

export const isExpired = ({ expiresAt }: KeptDoc, now: number): boolean => expiresAt !== 0 && expiresAt <= now

/** `version end stamp`, the index, and the value. */
export function readDocument(partition: string, id: string, bytes: Uint8Array): KeptDoc {
  const text = toUtf8(bytes)
  const first = text.indexOf('\n')
  const second = text.indexOf('\n', first + 1)
  const { version, expiresAt, stamp } = readHeader(text.slice(0, first))
  const index: DocIndex = JSON.parse(text.slice(first + 1, second))
  const value = JSON.parse(text.slice(second + 1))
  return { doc: { partition, id, value, version, index }, stamp, expiresAt }
}

/** The first two lines of a removed document. */
export function readLines(bytes: Uint8Array) {
  const [header, index] = toUtf8(bytes).split('\n') as [string, string]
  const { stamp, expiresAt } = readHeader(header)
  return { stamp, index: JSON.parse(index) as DocIndex, isExpiring: expiresAt !== 0 }
}

function readHeader(header: string) {
  const [version, expiresAt, stamp] = header.split(' ') as [string, string, string]
  return { version: Number(version), expiresAt: Number(expiresAt), stamp }
}

export function toUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}

/** When a put started, by the server's clock. */
export const timeOf = (stamp: string): number => Number.parseInt(stamp, 10)

/** From a list of names, each followed by its value. */
export function pairsOf<Item>(flat: readonly Item[]): [name: Item, value: Item][] {
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]!] satisfies [Item, Item]] : []))
}

/** `work` returns one result for each item of a group. All results are returned in the order of the items. */
export async function inGroups<Item, Answer>(
  items: readonly Item[],
  groupOf: (item: Item) => string,
  work: (group: string, items: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(groupOf(item))
    if (group) group.push(item)
    else groups.set(groupOf(item), [item])
  }
  const answers = new Map<Item, Answer>()
  await Promise.all(
    [...groups].map(async ([name, group]) => {
      for (const [i, answer] of (await work(name, group)).entries()) answers.set(group[i]!, answer)
    }),
  )
  return items.map((item) => answers.get(item)!)
}
