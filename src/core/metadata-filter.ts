/**
 * Conditions on metadata: values by key, or operators, as in the filters of a LangGraph `Auth`. All keys must
 * match. A key that is absent from the metadata never matches.
 */
export type MetadataFilter = {
  readonly [key: string]: FilterValue | KeyOperators | readonly MetadataFilter[]
} & {
  /** At least one filter must match. An empty list never matches. */
  readonly $or?: readonly MetadataFilter[]
  /** All filters must match. */
  readonly $and?: readonly MetadataFilter[]
}

/** Operators on the value of one key. All that are set must match. */
export interface KeyOperators {
  /** Equals this value. */
  readonly $eq?: FilterValue
  /** The metadata value is a list that contains this item, or all of these items. */
  readonly $contains?: FilterValue | readonly FilterValue[]
}

/** A scalar, which a filter can compare for equality. */
export type FilterValue = string | number | boolean | null
type Metadata = Readonly<Record<string, unknown>>

/** Matches nothing. */
export const NOTHING: MetadataFilter = { $or: [] }

/** Whether metadata match a filter. Without a filter they do. */
export const passes = (filter: MetadataFilter | undefined, metadata: Metadata): boolean =>
  Object.entries(filter ?? {}).every(([key, wanted]) => {
    if (key === '$or') return filtersOf(wanted).some((one) => passes(one, metadata))
    if (key === '$and') return filtersOf(wanted).every((one) => passes(one, metadata))
    const { $eq, $contains } = operatorsOf(wanted)
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined
    if ($eq !== undefined && value !== $eq) return false
    return (
      $contains === undefined ||
      (Array.isArray(value) && [$contains].flat().every((one) => value.includes(one)))
    )
  })

/**
 * The values that keys must have, whatever else the filter requires: a search for them finds all matches, and
 * possibly more.
 */
export function equalitiesOf(filter: MetadataFilter): Readonly<Record<string, FilterValue>> {
  // Without a prototype, because a key may have any name.
  const found: Record<string, FilterValue> = Object.create(null)
  for (const [key, wanted] of Object.entries(filter)) {
    const { $eq } = operatorsOf(wanted)
    if (key === '$and') for (const one of filtersOf(wanted)) Object.assign(found, equalitiesOf(one))
    else if (key !== '$or' && $eq !== undefined) found[key] = $eq
  }
  return found
}

/**
 * Validates a filter. Throws `TypeError` with the path of anything invalid: a comparison with `undefined` or
 * an unknown operator must not match everything.
 */
export function filterOf(value: unknown, place = 'filter'): MetadataFilter {
  if (!isObject(value)) throw new TypeError(`${place}: expected an object.`)
  for (const [key, wanted] of Object.entries(value)) {
    const at = `${place}.${key}`
    if (key === '$or' || key === '$and') {
      if (!Array.isArray(wanted)) throw new TypeError(`${at}: expected an array of filters.`)
      wanted.forEach((one, index) => void filterOf(one, `${at}.${index}`))
    } else if (isObject(wanted)) checkOperators(wanted, at)
    else if (!isScalar(wanted)) throw new TypeError(`${at}: expected a value, or { $eq } or { $contains }.`)
  }
  return value as MetadataFilter
}

function checkOperators(operators: Metadata, place: string): void {
  const names = Object.keys(operators)
  if (names.length === 0) throw new TypeError(`${place}: expected $eq or $contains.`)
  for (const name of names) {
    const operand = operators[name]
    const isRight =
      name === '$contains' && Array.isArray(operand)
        ? operand.every(isScalar)
        : (name === '$eq' || name === '$contains') && isScalar(operand)
    if (!isRight)
      throw new TypeError(`${place}.${name}: expected $eq with a value, or $contains with one or several.`)
  }
}

const filtersOf = (wanted: unknown): readonly MetadataFilter[] => wanted as readonly MetadataFilter[]

const operatorsOf = (wanted: unknown): KeyOperators =>
  isObject(wanted) ? wanted : isScalar(wanted) ? { $eq: wanted } : {}

const isScalar = (value: unknown): value is FilterValue =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

/** False for a `Map` or a list, which would look like a filter without conditions. */
const isObject = (value: unknown): value is Metadata =>
  Object.prototype.toString.call(value) === '[object Object]'
