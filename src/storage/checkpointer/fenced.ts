import type { Store } from '../store/store.ts'
import type { Checkpointer } from './checkpointer.ts'
import type { Serde } from './serde.ts'

/**
 * What a store and a saver over one database have in common: both carry the same object under this key. Only then can the
 * saver check the lease in its own transaction.
 */
export const DATABASE: unique symbol = Symbol.for('agentwire.database') as never

/**
 * A view of a saver whose `put` and `putWrites` throw `FencedError` once `partition`'s lease is not held with `token`. Where saver and store share a
 * database the check and the write are one transaction; with a foreign saver one write that is already under way may still land.
 */
export function fencedCheckpointer(
  inner: Checkpointer,
  store: Store,
  partition: string,
  token: number,
): Checkpointer {
  if (inner.withFence && sharesDatabase(inner, store)) return inner.withFence(partition, token)
  return overlay(inner, (saver) => ({
    async put(...args) {
      await store.assertFence(partition, token)
      return saver.put(...args)
    },
    async putWrites(...args) {
      await store.assertFence(partition, token)
      await saver.putWrites(...args)
    },
  }))
}

function sharesDatabase(a: object, b: object): boolean {
  const database = (a as { [DATABASE]?: unknown })[DATABASE]
  return database !== undefined && database === (b as { [DATABASE]?: unknown })[DATABASE]
}

/**
 * `inner`, and its views with another serde, with some methods replaced. Everything else runs on `inner` itself, so that savers with private fields, getters and
 * methods of later LangGraph versions keep working. The proxy's target is a blank object: a frozen saver forbids replacing.
 */
export function overlay(
  inner: Checkpointer,
  methodsOf: (inner: Checkpointer) => Partial<Checkpointer>,
): Checkpointer {
  const bound = new Map<PropertyKey, unknown>(Object.entries(methodsOf(inner)))
  if (inner.withSerde) bound.set('withSerde', (serde: Serde) => overlay(inner.withSerde!(serde), methodsOf))
  return new Proxy(Object.create(Object.getPrototypeOf(inner)) as Checkpointer, {
    get(_, key) {
      if (bound.has(key)) return bound.get(key)
      const member: unknown = Reflect.get(inner, key)
      if (typeof member !== 'function' || key === 'constructor') return member
      const method = member.bind(inner)
      bound.set(key, method)
      return method
    },
    has: (_, key) => Reflect.has(inner, key),
    set: (_, key, value) => Reflect.set(inner, key, value),
  })
}
