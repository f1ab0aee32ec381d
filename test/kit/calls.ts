/** What is called of a storage, in the order of the calls: `get threads`, `commit`, `saver.put`. */
export interface Calls {
  readonly made: string[]
  /** Where each call came from, innermost first, as far as it is this library's own code. */
  from(): string[]
}

/** Methods that are no work of the storage: they register a listener, or tell about it. */
const FREE = new Set(['watch', 'setup', 'close', 'report'])
const STORE = [
  'get',
  'getMany',
  'list',
  'count',
  'commit',
  'read',
  'inspect',
  'assertFence',
  'expired',
  'trim',
  'sweep',
]
const SAVER = ['getTuple', 'list', 'put', 'putWrites', 'deleteThread', 'keepLatest', 'getDeltaChannelHistory']

export interface CountedStorage<Place> {
  readonly storage: Place
  readonly calls: Calls
  /** Forgets the calls until now. */
  reset(): void
}

/** The same storage, with its calls noted. A view of the saver with a fence is the same saver. */
export function counted<Place extends { readonly store: object; readonly checkpointer: object }>(
  place: Place,
): CountedStorage<Place> {
  // The stack of an error becomes text when it is read, which takes longer than most calls.
  const stacks: Error[] = []
  const calls: Calls = { made: [], from: () => stacks.map(fromOf) }
  const note = (name: string): void => {
    calls.made.push(name)
    stacks.push(new Error())
  }
  const watched = <Whole extends object>(whole: Whole, methods: readonly string[], prefix: string): Whole =>
    new Proxy(whole, {
      get(target, key) {
        const member = Reflect.get(target, key) as unknown
        if (typeof member !== 'function' || typeof key !== 'string' || FREE.has(key)) return member
        if (key === 'withFence' || key === 'withSerde')
          return (...args: unknown[]) => watched(member.apply(target, args) as object, methods, prefix)
        if (!methods.includes(key)) return member.bind(target)
        return (...args: unknown[]) => {
          note(key === 'get' ? `get ${String(args[1])}` : prefix + key)
          return member.apply(target, args) as unknown
        }
      },
    })
  const storage = {
    ...place,
    store: watched(place.store, STORE, ''),
    checkpointer: watched(place.checkpointer, SAVER, 'saver.'),
  }
  return {
    storage,
    calls,
    reset() {
      calls.made.length = 0
      stacks.length = 0
    },
  }
}

function fromOf({ stack = '' }: Error): string {
  const lines = stack.split('\n').slice(3)
  return lines
    .filter((line) => /\/src\//.test(line) && !/\/src\/(storage|core)\b/.test(line))
    .map((line) => line.replace(/.*at (?:async )?(.*?) ?\(?.*\/src\/(.*?):(\d+):\d+\)?$/, '$1 $2:$3'))
    .join(' < ')
}
