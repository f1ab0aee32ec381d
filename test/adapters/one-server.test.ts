import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { cachedServer, toNext } from '../../adapters/next.ts'
import type { WebHandler } from '../../src/index.ts'

afterEach(() => void vi.unstubAllEnvs())

/** A handler that answers with its name, and keeps what happened to it. */
function handler(name: string): WebHandler & { readonly closed: boolean } {
  let closed = false
  const fetch = async () => new Response(name)
  return {
    fetch,
    handle: fetch,
    routes: async () => [],
    get closed() {
      return closed
    },
    close: async () => {
      closed = true
    },
  }
}

const answerOf = async (server: WebHandler) => (await server.fetch(new Request('http://host/'))).text()

test('in development the newest server answers for all, over the storage that was opened first, and the one before closes', async () => {
  const opened: object[] = []
  const open = () => opened[opened.push({}) - 1]!
  const first = handler('first')
  const seen: object[] = []
  const make = (made: WebHandler) => (storage: object) => {
    seen.push(storage)
    return made
  }
  const early = cachedServer(open, make(first), 'development')
  expect(await answerOf(early)).toBe('first')
  const late = cachedServer(open, make(handler('second')), 'development')
  expect([await answerOf(early), await answerOf(late)]).toEqual(['second', 'second'])
  expect(first.closed).toBe(true)
  expect(seen).toEqual([opened[0], opened[0]])
  expect(opened).toHaveLength(1)
  expect(await answerOf(cachedServer(open, make(handler('other')), 'another name'))).toBe('other')
  expect(await answerOf({ ...early })).toBe('second')
})

test('a server that cannot be made leaves the one before in place', async () => {
  const early = cachedServer(
    () => ({}),
    () => handler('works'),
    'broken',
  )
  const fail = () => {
    throw new Error('no')
  }
  expect(() => cachedServer(() => ({}), fail, 'broken')).toThrow('no')
  expect(await answerOf(early)).toBe('works')
})

test('in production the first server stays, whichever bundle asks', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  const first = handler('first')
  cachedServer(
    () => ({}),
    () => first,
    'production',
  )
  const again = cachedServer(
    () => ({}),
    () => handler('second'),
    'production',
  )
  expect(await answerOf(again)).toBe('first')
  expect(first.closed).toBe(false)
})

test('routes give the host what goes on after the response, where the host has told Next how', async () => {
  const kept: Promise<unknown>[] = []
  const key = Symbol.for('@next/request-context')
  const host = { get: () => ({ waitUntil: (work: Promise<unknown>) => void kept.push(work) }) }
  const globals = globalThis as { [key: symbol]: unknown }
  globals[key] = host
  onTestFinished(() => void delete globals[key])
  const working: WebHandler = {
    ...handler('works'),
    fetch: async (_, context) => {
      context?.waitUntil?.(Promise.resolve())
      return new Response()
    },
  }
  await toNext(working).POST(new Request('http://host/', { method: 'POST' }))
  expect(kept).toHaveLength(1)
  delete globals[key]
  await toNext(working).POST(new Request('http://host/', { method: 'POST' }))
  expect(kept).toHaveLength(1)
})
