export function iterate(stream: AsyncIterable<unknown> | ReadableStream<unknown>): AsyncIterator<unknown> {
  return stream instanceof ReadableStream ? iterateReadable(stream) : stream[Symbol.asyncIterator]()
}

/**
 * Iterates a `ReadableStream`, for runtimes that cannot. `return` cancels immediately, also during a read.
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
