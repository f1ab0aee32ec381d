import type { Store } from '../../../src/storage/index.ts'

/** The store as a process sees it that can be lost: from then on it reaches nothing. */
export function mortalStore(store: Store) {
  let isDead = false
  const underWay = new Set<unknown>()
  const seen = new Proxy(store, {
    get(target, name: keyof Store) {
      const value = target[name]
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (isDead && name !== 'watch') return Promise.reject(new Error('The process is lost.'))
        const called = (value as (...given: unknown[]) => unknown).apply(target, args)
        if (!(called instanceof Promise)) return called
        underWay.add(called)
        const end = () => underWay.delete(called)
        called.then(end, end)
        return called
      }
    },
  })
  return {
    store: seen,
    die: () => (isDead = true),
    revive: () => (isDead = false),
    /** Settles when what it asked for before its death has been done. */
    idle: () => Promise.allSettled(underWay),
  }
}
