import { isRecord } from '../../../messages/record.ts'
import { TracingError } from '../errors.ts'
import { iterateReadable } from './first-token.ts'
import { createObserver, type ObserveOptions, type Observer } from './observer.ts'

/**
 * Observes a stream of chunks while the caller reads it, and returns the same kind of stream: an async
 * iterable or generator, a `ReadableStream`, the `Stream` of a provider's SDK with its helpers, the emitter
 * that an SDK puts around it, or the promise of one (with `withResponse`) or of a whole response.
 *
 * Each chunk is passed on unchanged, when the caller pulls it. The first content makes one `new_token` event.
 * The stream makes one record: when it is complete, fails, is cancelled, or the reader leaves. Its errors
 * reach the caller.
 *
 * ```ts
 * const reply = await openai.chat.completions.create({ ...request, stream: true })
 * const stream = observeModelStream(reply, { request, onEnd })
 * ```
 *
 * Throws `TracingError` for a value that is no stream, and for an unknown format.
 */
export function observeModelStream<Stream extends object>(
  stream: Stream,
  options: ObserveOptions = {},
): Stream {
  const observer = createObserver(options)
  if (isPromise(stream)) return observePromise(stream, observer)
  if (isStream(stream)) return observeStream(stream, observer) as Stream
  const message = 'Expected an async iterable, a ReadableStream, or a promise of one.'
  throw new TracingError('stream', message)
}

type Iterable = object & { [Symbol.asyncIterator](): AsyncIterator<unknown> }

const isStream = (value: unknown): value is object =>
  value instanceof ReadableStream || typeof Object(value)[Symbol.asyncIterator] === 'function'

const isPromise = (value: object): value is PromiseLike<object> & object =>
  typeof (value as { then?: unknown }).then === 'function'

function observeStream(stream: object, observer: Observer): object {
  if (stream instanceof ReadableStream) return observeReadable(stream, observer)
  if (isEmitter(stream)) return observeEmitter(stream, observer)
  if (isSdkStream(stream)) {
    const { controller } = stream
    const Stream = stream.constructor as new (iterator: () => unknown, controller: AbortController) => object
    return new Stream(() => observeIterator(stream.iterator(), observer, controller), controller)
  }
  return observeIterable(stream as Iterable, observer)
}

/** The `Stream` class that the SDKs of OpenAI, Anthropic, Groq and others share. */
interface SdkStream {
  readonly iterator: () => AsyncIterator<unknown>
  readonly controller: AbortController
}

function isSdkStream(value: object): value is SdkStream {
  const { iterator, controller, tee, toReadableStream } = value as Record<string, unknown>
  const methods = [iterator, tee, toReadableStream].every((method) => typeof method === 'function')
  return methods && controller instanceof AbortController
}

/** What the SDKs' streaming helpers, such as `chat.completions.stream()`, have in common. */
interface Emitter {
  readonly errored: boolean
  readonly aborted: boolean
  on(name: string, listener: (chunk: unknown) => void): unknown
}

function isEmitter(value: object): value is Emitter {
  const { on, done, errored, aborted } = value as Record<string, unknown>
  const methods = typeof on === 'function' && typeof done === 'function'
  return methods && typeof errored === 'boolean' && typeof aborted === 'boolean'
}

/** Listens to an emitter, but not to `error`, because the SDK only reports errors that have no listener. */
function observeEmitter(stream: Emitter, observer: Observer): object {
  for (const name of ['chunk', 'event', 'streamEvent'])
    stream.on(name, (chunk) => {
      observer.push(chunk)
    })
  stream.on('end', () => {
    if (stream.aborted) observer.end('cancelled')
    else observer.end(stream.errored ? { error: 'The stream failed.' } : 'complete')
  })
  return stream
}

/** Wraps any other iterable object in a proxy, so that its other members still work. */
function observeIterable(stream: Iterable, observer: Observer): object {
  let iterator: AsyncIterator<unknown> | undefined
  const iterate = (): AsyncIterator<unknown> => {
    const source = stream[Symbol.asyncIterator]()
    // Only the first iteration is observed. A generator returns itself, so it stays the observed one.
    if (iterator) return source === (stream as unknown) ? iterator : source
    const { controller, abortController = controller } = stream as {
      controller?: unknown
      abortController?: unknown
    }
    iterator = observeIterator(source, observer, abortController)
    return iterator
  }
  const itself = 'next' in stream
  const methods = new Map<PropertyKey, unknown>([[Symbol.asyncIterator, itself ? () => proxy : iterate]])
  const proxy: object = new Proxy(stream, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown
      if (typeof value !== 'function') return value
      let method = methods.get(key)
      if (!method) {
        const routed = itself && (key === 'next' || key === 'return' || key === 'throw')
        method = routed
          ? (given: unknown) =>
              (iterate() as unknown as Record<string, (given: unknown) => unknown>)[key]!(given)
          : key === Symbol.asyncDispose
            ? () => iterate().return?.()
            : (...args: unknown[]) => Reflect.apply(value, target, args)
        methods.set(key, method)
      }
      return method
    },
  })
  return proxy
}

/** @param controller Tells whether the source was aborted. An aborted source ends as if it were complete. */
function observeIterator(
  source: AsyncIterator<unknown>,
  observer: Observer,
  controller: unknown,
): AsyncIterableIterator<unknown> {
  const take = (result: IteratorResult<unknown>) => {
    if (!result.done) observer.push(result.value)
    else observer.end(isAborted(controller) ? 'cancelled' : 'complete')
    return result
  }
  const fail = (error: unknown): never => {
    observer.end(isAbort(error) ? 'cancelled' : { error })
    throw error
  }
  const leave = (result: IteratorResult<unknown>) => {
    observer.end('cancelled')
    return result
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: (given) => callIterator(source, 'next', given).then(take, fail),
    return: (value) =>
      source.return
        ? callIterator(source, 'return', value).then(leave, fail)
        : Promise.resolve(leave({ done: true, value })),
    throw(error) {
      if (source.throw) return callIterator(source, 'throw', error).then(take, fail)
      observer.end({ error })
      return Promise.reject(error)
    },
  }
}

/** Calls a method of the source. Returns a promise, even if the method returns none or throws. */
function callIterator(
  source: AsyncIterator<unknown>,
  method: 'next' | 'return' | 'throw',
  given: unknown,
): Promise<IteratorResult<unknown>> {
  try {
    return Promise.resolve(source[method]!(given))
  } catch (error) {
    return Promise.reject(error)
  }
}

const isAborted = (controller: unknown): boolean =>
  controller instanceof AbortController && controller.signal.aborted

const isAbort = (error: unknown): boolean => isRecord(error) && error.name === 'AbortError'

/** Wraps a stream in one that only pulls when it is pulled. It keeps the prototype of a subclass. */
function observeReadable(stream: ReadableStream<unknown>, observer: Observer): ReadableStream<unknown> {
  let reader: ReadableStreamDefaultReader<unknown> | undefined
  const observed = new ReadableStream<unknown>(
    {
      async pull(controller) {
        try {
          reader ??= stream.getReader()
          const { done, value } = await reader.read()
          if (done) {
            controller.close()
            observer.end('complete')
          } else {
            controller.enqueue(value)
            observer.push(value)
          }
        } catch (error) {
          observer.end(isAbort(error) ? 'cancelled' : { error })
          throw error
        }
      },
      async cancel(reason) {
        observer.end('cancelled')
        await (reader ?? stream).cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  const prototype = Object.getPrototypeOf(stream) as object
  if (prototype !== ReadableStream.prototype) Object.setPrototypeOf(observed, prototype)
  if (!(Symbol.asyncIterator in observed) && Symbol.asyncIterator in stream)
    Object.defineProperty(observed, Symbol.asyncIterator, { value: () => iterateReadable(observed) })
  return observed
}

/**
 * Wraps the promise of a stream or a complete response, with its SDK's helpers. It is only awaited when the
 * caller awaits it, because an SDK's promise then reads the response body.
 */
function observePromise<Promised extends PromiseLike<object> & object>(
  promise: Promised,
  observer: Observer,
): Promised {
  let pending: Promise<object> | undefined
  const observe = (value: object): object => {
    if (isStream(value)) return observeStream(value, observer)
    observer.end({ response: value })
    return value
  }
  const observed = () =>
    (pending ??= Promise.resolve(promise).then(observe, (error: unknown) => {
      observer.end({ error })
      throw error
    }))
  return new Proxy(promise, {
    get(target, key) {
      const value = Reflect.get(target, key) as unknown
      if (typeof value !== 'function') return value
      if (key === 'then' || key === 'catch' || key === 'finally')
        return (...args: never[]) => (observed()[key] as (...args: never[]) => unknown)(...args)
      if (key === 'withResponse')
        return async () => {
          const data = await observed()
          return { ...((await Reflect.apply(value, target, [])) as object), data }
        }
      return (...args: unknown[]) => Reflect.apply(value, target, args)
    },
  })
}
