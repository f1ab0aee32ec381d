/**
 * Whether a value matches a filter, with the rules of LangGraph's `InMemoryStore`. Objects are compared by
 * content.
 */
export function matchesFilter(
  value: Readonly<Record<string, unknown>>,
  filter: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const found = Object.hasOwn(value, field) ? value[field] : undefined
    if (!isConditions(wanted)) return isEqual(found, wanted)
    return Object.entries(wanted).every(([name, operand]) => CONDITIONS.get(name)!(found, operand))
  })
}

type Condition = (found: unknown, operand: unknown) => boolean

const CONDITIONS: ReadonlyMap<string, Condition> = /* @__PURE__ */ new Map<string, Condition>([
  ['$eq', isEqual],
  ['$ne', (found, operand) => !isEqual(found, operand)],
  ['$gt', (found, operand) => Number(found) > Number(operand)],
  ['$gte', (found, operand) => Number(found) >= Number(operand)],
  ['$lt', (found, operand) => Number(found) < Number(operand)],
  ['$lte', (found, operand) => Number(found) <= Number(operand)],
  ['$in', (found, operand) => isOneOf(found, operand)],
  ['$nin', (found, operand) => !isOneOf(found, operand)],
])

const isConditions = (wanted: unknown): wanted is Readonly<Record<string, unknown>> =>
  isObject(wanted) && Object.keys(wanted).every((name) => CONDITIONS.has(name))

const isOneOf = (found: unknown, operand: unknown): boolean =>
  Array.isArray(operand) && operand.some((one) => isEqual(found, one))

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  )
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
