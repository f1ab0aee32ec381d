/**
 * A cache of values derived from objects. It keeps recently used values with a total weight between `limit`
 * and twice that, and no value longer than its object.
 */
export function rememberRecent<Key extends object, Value>(
  limit: number,
  weigh: (value: Value) => number,
): (key: Key, make: (key: Key) => Value) => Value {
  let young = new WeakMap<Key, Value>()
  let old = new WeakMap<Key, Value>()
  let weight = 0
  return (key, make) => {
    const known = young.get(key)
    if (known !== undefined) return known
    const value = old.get(key) ?? make(key)
    weight += weigh(value)
    if (weight > limit) {
      old = young
      young = new WeakMap()
      weight = weigh(value)
    }
    young.set(key, value)
    return value
  }
}
