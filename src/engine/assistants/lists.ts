import { filteredPage, MAX_LOOKED_AT } from '../../core/filtered-page.ts'
import { passes } from '../../core/metadata-filter.ts'
import { accessOf, type Principal } from '../../core/principal.ts'
import type { Store } from '../../storage/index.ts'
import { compareKeys } from '../../storage/store/cursor.ts'
import { listFitting, recordsOf } from '../../storage/store/pages.ts'
import { internalsOf, type ServedEngine } from '../index.ts'
import { graphNamed, isShown, noSuchAssistant, readAssistant } from './find.ts'
import {
  ASSISTANTS,
  type AssistantOrder,
  type AssistantRecord,
  changedField,
  listField,
  orderKey,
  placeOf,
  recordOf,
  VERSIONS,
} from './record.ts'
import { systemAssistant } from './system.ts'

type Caller = Principal | null | undefined
type Fits = (assistant: AssistantRecord) => boolean

export interface AssistantQuery {
  readonly graphId?: string | undefined
  /** Selects assistants. Default: all. A search with `fits` reads at most 10,000 assistants, in its order. */
  readonly fits?: Fits | undefined
  /** Default: `createdAt`. Ties are ordered by id. */
  readonly orderBy?: AssistantOrder | undefined
  readonly ascending?: boolean | undefined
}

export interface AssistantPage {
  readonly items: readonly AssistantRecord[]
  /** The total count. With `fits`, at most one more than the end of the page. */
  readonly total: number
}

/** A page of an owner's assistants, including system assistants. Default: newest first. */
export async function searchAssistants(
  engine: ServedEngine,
  principal: Caller,
  query: AssistantQuery & { readonly offset: number; readonly limit: number },
): Promise<AssistantPage> {
  const { orderBy = 'createdAt', ascending = false, offset, limit } = query
  const { owner } = accessOf(principal)
  const fits = visibleFits(principal, query)
  const field = listField(owner, orderBy, graphOf(engine, query))
  const compare = comparisonOf(owner, orderBy, ascending)
  const system = (await systemAssistants(engine, owner, { ...query, fits })).sort(compare)
  // System assistants may take this many positions before the page.
  const from = Math.max(0, offset - system.length)
  const until = offset + limit
  const { made, count } = await (fits
    ? lookFor(internalsOf(engine).store, { field, ascending }, fits, from, until)
    : readWindow(internalsOf(engine).store, { field, ascending }, from, until))
  const total = count + system.length
  const [first] = made
  if (!first && from > 0) return { items: [], total }
  const before = from > 0 ? system.filter((one) => compare(one, first!) < 0).length : 0
  const items = [...made, ...system.slice(before)]
    .sort(compare)
    .slice(offset - from - before)
    .slice(0, limit)
  return { items, total: fits ? Math.min(total, until + 1) : total }
}

/** The number of an owner's assistants, including system assistants. */
export async function countAssistants(
  engine: ServedEngine,
  principal: Caller,
  query: Pick<AssistantQuery, 'graphId' | 'fits'>,
): Promise<number> {
  const { owner } = accessOf(principal)
  const fits = visibleFits(principal, query)
  const field = listField(owner, 'createdAt', graphOf(engine, query))
  const { length } = await systemAssistants(engine, owner, { ...query, fits })
  if (!fits) return length + (await internalsOf(engine).store.count(ASSISTANTS, field))
  const { count } = await lookFor(internalsOf(engine).store, { field, ascending: false }, fits, 0, Infinity)
  return length + count
}

/** The versions of an assistant, newest first. Throws `no_such_assistant`. */
export async function listVersions(
  engine: ServedEngine,
  principal: Caller,
  idOrName: string,
  {
    fits = () => true,
    offset,
    limit,
  }: { readonly fits?: Fits; readonly offset: number; readonly limit: number },
): Promise<readonly AssistantRecord[]> {
  const read = await readAssistant(engine, principal, idOrName)
  if (!read || !isShown(principal, read.record)) throw noSuchAssistant()
  const { record, docVersion } = read
  if (docVersion === undefined) return [record].filter(fits).slice(offset, offset + limit)
  const partition = placeOf(record.owner, record.assistantId)
  const query = { partition, orderBy: 'version', descending: true }
  return listFitting(recordsOf(recordOf, internalsOf(engine).store, VERSIONS, query), fits, { offset, limit })
}

/** Selects assistants that match the query and the principal's filter. */
function visibleFits(principal: Caller, { fits }: Pick<AssistantQuery, 'fits'>): Fits | undefined {
  const { metadataFilter } = accessOf(principal)
  if (!metadataFilter) return fits
  return (assistant) => passes(metadataFilter, assistant.metadata) && (fits?.(assistant) ?? true)
}

const graphOf = (engine: ServedEngine, { graphId }: Pick<AssistantQuery, 'graphId'>) =>
  graphId === undefined ? undefined : (graphNamed(engine, graphId) ?? graphId)

/** The system assistants that match, with the owner's changes. */
async function systemAssistants(
  engine: ServedEngine,
  owner: string | null,
  { fits = () => true, ...query }: Pick<AssistantQuery, 'graphId' | 'fits'>,
): Promise<AssistantRecord[]> {
  const wanted = graphOf(engine, query)
  const graphs = wanted === undefined ? [...engine.agents.keys()] : engine.agents.has(wanted) ? [wanted] : []
  if (graphs.length === 0) return []
  const { made } = await readWindow(
    internalsOf(engine).store,
    { field: changedField(owner), ascending: true },
    0,
    MAX_LOOKED_AT,
  )
  const changed = new Map(made.map((one) => [one.graphId, one]))
  const all = graphs.map((id) => changed.get(id) ?? systemAssistant(engine, owner, id))
  return (await Promise.all(all)).filter(fits)
}

interface List {
  readonly field: string
  readonly ascending: boolean
}

interface Window {
  readonly made: readonly AssistantRecord[]
  readonly count: number
}

/** The assistants of a list between two positions, and the total count. */
async function readWindow(store: Store, list: List, from: number, until: number): Promise<Window> {
  const counted = store.count(ASSISTANTS, list.field)
  const made: AssistantRecord[] = []
  const query = { ...orderOf(list), offset: from }
  for await (const one of recordsOf(recordOf, store, ASSISTANTS, query, until - from)) made.push(one)
  return { made, count: await counted }
}

/** The same for selected assistants, counted up to one after the window. */
async function lookFor(store: Store, list: List, fits: Fits, from: number, until: number): Promise<Window> {
  const records = recordsOf(recordOf, store, ASSISTANTS, orderOf(list), MAX_LOOKED_AT)
  const { items, total } = await filteredPage(records, fits, { offset: from, limit: until - from })
  return { made: items, count: total }
}

const orderOf = ({ field, ascending }: List) => ({ orderBy: field, descending: !ascending })

/** The order in which the store lists documents. */
function comparisonOf(owner: string | null, orderBy: AssistantOrder, ascending: boolean) {
  const sign = ascending ? 1 : -1
  const place = ({ assistantId }: AssistantRecord) => placeOf(owner, assistantId)
  return (a: AssistantRecord, b: AssistantRecord): number =>
    sign * (compareKeys(orderKey(a, orderBy), orderKey(b, orderBy)) || compareKeys(place(a), place(b)))
}
