import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Forwarded, requestUrl } from '../../adapters/node/target.ts'
import type { NodeRequest } from '../../adapters/node/types.ts'

function urlOf(url: string, headers: Record<string, string>, forwarded?: Forwarded, encrypted = false) {
  return requestUrl({ url, headers, socket: { encrypted } } as unknown as NodeRequest, forwarded)
}

test('the scheme is that of the connection, of the HTTP/2 request, or of a trusted proxy', () => {
  expect(urlOf('/', { host: 'a' })).toBe('http://a/')
  expect(urlOf('/', { host: 'a' }, undefined, true)).toBe('https://a/')
  expect(urlOf('/', { ':authority': 'a', ':scheme': 'https' })).toBe('https://a/')
  expect(urlOf('/', { host: 'a' }, { protocol: 'https' })).toBe('https://a/')
  expect(urlOf('/', { host: 'a' }, { protocol: 'javascript' })).toBe('http://a/')
})

test('the host is that of a trusted proxy, of the target, of the request, in this order', () => {
  expect(urlOf('http://b:8/x', { host: 'a' }, { host: 'c' })).toBe('http://c/x')
  expect(urlOf('http://b:8/x', { host: 'a' })).toBe('http://b:8/x')
  expect(urlOf('http://b', { host: 'a' })).toBe('http://b')
  expect(urlOf('/x', { host: '[::1]:80' })).toBe('http://[::1]:80/x')
})

test.each(['', ' ', 'a b', 'a/b', 'a?', 'a#', 'a\\b', 'a@b', 'a:b', 'a:99999', '[::1', 'a\tb', '-a', 'a,b'])(
  'the host %j is refused or ignored',
  (host) => {
    expect(urlOf('/x', { host })).toBe(host === '' ? 'http://localhost/x' : undefined)
  },
)

test.each(['x', 'ftp://a/x', 'javascript:1', 'http://a@b/x', 'http:///x', '\\x'])(
  'the target %j is refused',
  (target) => {
    expect(urlOf(target, { host: 'a' })).toBe(undefined)
  },
)

test('whatever is sent, a URL has the host of the request and its path', () => {
  const host = fc.oneof(
    fc.string(),
    fc
      .tuple(
        fc.constantFrom('a.example', '127.0.0.1', '[::1]', 'x_y'),
        fc.constantFrom('', ':80', ':8080', '@b', '?', '/', '#', '\\', '%'),
      )
      .map((parts) => parts.join('')),
  )
  const path = fc.oneof(
    fc.string(),
    fc.webPath(),
    fc.constantFrom('/b/c', '/b@c', '\\b', '../..', '@b', ':80'),
  )
  fc.assert(
    fc.property(path, host, (path, host) => {
      const url = urlOf(`/${path}`, { host })
      if (url === undefined || host === '') return
      const parsed = new URL(url)
      expect(parsed.host).toBe(new URL(`http://${host}`).host)
      expect([parsed.username, parsed.password]).toEqual(['', ''])
      expect(parsed.href).toBe(new URL(`${parsed.origin}/${path}`).href)
    }),
  )
})
