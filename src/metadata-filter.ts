/**
 * What metadata have to be: values of keys, or operators on them, as in the filters of an `Auth` of LangGraph. All keys have to hold.
 * A key that the metadata lack holds for no value.
 */
export type MetadataFilter = {
  readonly [key: string]: FilterValue | KeyOperators | readonly MetadataFilter[]
} & {
  /** At least one of them has to hold; none does where there are none. */
  readonly $or?: readonly MetadataFilter[]
  /** All of them have to hold. */
  readonly $and?: readonly MetadataFilter[]
}

export interface KeyOperators {
  /** The value itself. */
  readonly $eq?: FilterValue
  /** The value is a list that has this item, or all of these. */
  readonly $contains?: FilterValue | readonly FilterValue[]
}

/** A value without parts, of which a filter can say that it is equal. */
export type FilterValue = string | number | boolean | null
type Metadata = Readonly<Record<string, unknown>>

/** Holds for nothing. */
export const NOTHING: MetadataFilter = { $or: [] }

/** Whether metadata are what a filter wants. Without a filter they are. */
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

/** The values that keys have to have, whatever else a filter wants: a search for them finds all that passes, and perhaps more. */
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
 * The value as a filter. Throws `TypeError`, naming the place, for anything that is none: a comparison with `undefined` or by an
 * operator that nobody knows must not let everything through.
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

/** Not so a `Map` or a list, which would look like a filter that wants nothing. */
const isObject = (value: unknown): value is Metadata =>
  Object.prototype.toString.call(value) === '[object Object]'
