import type { Checkpointer } from './checkpointer.ts'
import type { Serde } from './serde.ts'

/**
 * `inner`, and its views with another serde, with some methods replaced. All other methods run on `inner`
 * itself, so that savers with private fields, getters and methods of later LangGraph versions keep working.
 * The proxy's target is an empty object, because a proxy cannot replace the methods of a frozen saver.
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

/** The saver's methods with these names, with each call wrapped. */
export function wrapCalls(
  saver: Checkpointer,
  names: readonly string[],
  wrap: (call: () => unknown) => unknown,
): Partial<Checkpointer> {
  const members = saver as unknown as Readonly<Record<string, unknown>>
  const wrapped: Record<string, unknown> = {}
  for (const name of names) {
    const method = members[name]
    if (typeof method === 'function')
      wrapped[name] = (...args: unknown[]) => wrap(() => method.apply(saver, args))
  }
  return wrapped
}

const WRITES = ['put', 'putWrites', 'deleteThread', 'keepLatest']

/** A view of a saver whose writes wait for `check`, and fail if it fails. */
export const beforeWrites = (inner: Checkpointer, check: () => Promise<void>): Checkpointer =>
  overlay(inner, (saver) =>
    wrapCalls(saver, WRITES, async (call) => {
      await check()
      return call()
    }),
  )
