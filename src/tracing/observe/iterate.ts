/** Iterates a stream of either kind. */
export function iterate(stream: AsyncIterable<unknown> | ReadableStream<unknown>): AsyncIterator<unknown> {
  return stream instanceof ReadableStream ? iterateReadable(stream) : stream[Symbol.asyncIterator]()
}

/**
 * Iterates a `ReadableStream`, which not all runtimes can do themselves. `return` cancels at once, even while a chunk is
 * awaited.
 */
export function iterateReadable(stream: ReadableStream<unknown>): AsyncIterableIterator<unknown> {
  const reader = stream.getReader()
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => reader.read() as Promise<IteratorResult<unknown>>,
    async return(value) {
      await reader.cancel()
      return { done: true, value }
    },
  }
}
