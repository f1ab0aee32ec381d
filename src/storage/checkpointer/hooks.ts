import type { Checkpointer } from './checkpointer.ts'
import type { Serde } from './serde.ts'

type Method<Name extends keyof Checkpointer> = NonNullable<Checkpointer[Name]>

/** What to do around calls of a saver, by method. `next` makes the call. */
export type SaverHook = {
  readonly [Name in keyof Checkpointer]?: (
    next: Method<Name>,
    ...args: Parameters<Method<Name>>
  ) => ReturnType<Method<Name>>
}

type Call = (...args: unknown[]) => unknown
type Around = (next: Call, ...args: unknown[]) => unknown

/**
 * A view of a saver with hooks around its methods, and around those of its views with another serde. A call
 * passes the hooks from the first to the last, and its result comes back from the last to the first.
 */
export function hooked(inner: Checkpointer, hooks: readonly (SaverHook | false | undefined)[]): Checkpointer {
  const rows = hooks.filter((hook) => hook) as unknown as readonly Readonly<Record<string, Around>>[]
  if (rows.length === 0) return inner
  return overlay(inner, (saver) => {
    const members = saver as unknown as Readonly<Record<string, unknown>>
    const methods: Record<string, Call> = {}
    for (const name of new Set(rows.flatMap((hook) => Object.keys(hook)))) {
      const own = members[name]
      if (typeof own !== 'function') continue
      methods[name] = rows.reduceRight<Call>(
        (next, { [name]: around }) => (around ? (...args) => around(next, ...args) : next),
        (...args) => own.apply(saver, args),
      )
    }
    return methods
  })
}

/** The methods that read or write and return a promise. */
export const CALLS = [
  'get',
  'getTuple',
  'put',
  'putWrites',
  'deleteThread',
  'keepLatest',
  'getDeltaChannelHistory',
]

/** A hook that does the same around each call of these methods. */
export const onCalls = (names: readonly string[], wrap: (call: () => unknown) => unknown): SaverHook =>
  Object.fromEntries(
    names.map((name) => [name, (next: Call, ...args: unknown[]) => wrap(() => next(...args))]),
  )

/** The writes of a saver wait for `check`, and fail if it fails. */
export const beforeWrites = (check: () => Promise<void>): SaverHook =>
  onCalls(['put', 'putWrites', 'deleteThread', 'keepLatest'], async (call) => {
    await check()
    return call()
  })

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
