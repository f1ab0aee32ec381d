/** Reads a stream, whichever kind it is. */
export function iterate(stream: AsyncIterable<unknown> | ReadableStream<unknown>): AsyncIterator<unknown> {
  return stream instanceof ReadableStream ? iterateReadable(stream) : stream[Symbol.asyncIterator]()
}

/** `return` cancels at once, also while a chunk is waited for. Not all runtimes can iterate their streams themselves. */
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
