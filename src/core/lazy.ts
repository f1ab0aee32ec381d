/** Creates a value, such as a module, on first use: `lazy(() => import('./rare.ts'))`. */
export function lazy<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** The same function, but asynchronous. */
type Later<Method> = Method extends (...args: infer Args) => infer Result
  ? (...args: Args) => Promise<Awaited<Result>>
  : never

/** Loads a function's module on the first call, for functions that no server needs before its first request. */
export function later<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): Later<Module[Name]> {
  const loaded = lazy(load)
  const call = async (...args: never[]): Promise<unknown> => {
    const method = (await loaded())[name] as (...args: never[]) => unknown
    return method(...args)
  }
  return call as Later<Module[Name]>
}

/**
 * The iterable that a module makes, which is loaded with the first `next`. From then on each call goes to it
 * directly, so that a reader that leaves during a `next` reaches it.
 */
export function iterateLater<T>(
  open: () => Promise<AsyncIterable<T, undefined>>,
): AsyncIterable<T> & AsyncIterator<T, undefined> {
  let iterator: AsyncIterator<T, undefined> | undefined
  const opened = lazy(async () => (iterator = (await open())[Symbol.asyncIterator]()))
  let isRead = false
  let isLeft = false
  const iterable = {
    [Symbol.asyncIterator]: () => iterable,
    next(): Promise<IteratorResult<T, undefined>> {
      if (iterator) return iterator.next()
      if (isLeft && !isRead) return Promise.resolve(DONE)
      isRead = true
      return opened().then((opening) => opening.next())
    },
    async return(): Promise<IteratorResult<T, undefined>> {
      isLeft = true
      return (isRead && (await (await opened()).return?.())) || DONE
    },
  }
  return iterable
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Runs `work` once and returns its result on each call. After a failure, the next call tries again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined
      throw error
    })
    return done
  }
}
