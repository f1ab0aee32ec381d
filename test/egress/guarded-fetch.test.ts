import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { DeliveryError } from '../../src/core/egress/errors.ts'
import { createGuardedFetch } from '../../src/core/egress/guarded-fetch.ts'
import type { DeliveryOptions } from '../../src/core/egress/requests.ts'
import { listen } from '../kit/listen.ts'

async function receiver(answer: RequestListener) {
  const seen: { method: string; headers: Record<string, unknown>; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ method: request.method!, headers: request.headers, body })
    answer(request, response)
  })
  const port = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}/`, port, seen }
}

const codeOf = (url: string, options: DeliveryOptions = { allowLoopback: true }) =>
  createGuardedFetch(options)(url).then(
    ({ status }) => `answered ${status}`,
    (error: DeliveryError) => error.code,
  )

test('gets and posts, and gives the whole answer with its status and content type', async () => {
  const { url, seen } = await receiver((_, response) =>
    response.writeHead(418, { 'content-type': 'application/json', 'set-cookie': 'a=b' }).end('{"a":"ü"}'),
  )
  const guarded = createGuardedFetch({ allowLoopback: true })
  const got = await guarded(url, { headers: { accept: 'application/json' } })
  expect([got.status, [...got.headers], await got.json()]).toEqual([
    418,
    [['content-type', 'application/json']],
    { a: 'ü' },
  ])
  await guarded(url, { method: 'POST', body: new URLSearchParams({ a: 'b c' }) })
  expect(seen).toMatchObject([
    { method: 'GET', headers: { accept: 'application/json' }, body: '' },
    { method: 'POST', headers: { 'content-length': '5' }, body: 'a=b+c' },
  ])
  expect(seen[0]!.headers).not.toHaveProperty('content-length')
  await expect(guarded(url, { method: 'PUT' })).rejects.toMatchObject({ code: 'invalid_request' })
})

test('gives a redirect as it is, and does not follow it', async () => {
  const { url, seen } = await receiver((_, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  )
  expect(await codeOf(url)).toBe('answered 302')
  expect(seen).toHaveLength(1)
})

test('refuses addresses that are not public, also behind a name', async () => {
  for (const url of [
    'http://127.0.0.1:1/',
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://0x7f.1/',
  ])
    expect(await codeOf(url, {})).toBe('address_refused')
  const lookup = vi.fn(async () => ['169.254.169.254'])
  expect(await codeOf('https://metadata.example.com/', { lookup })).toBe('address_refused')
  expect(lookup).toHaveBeenCalledOnce()
  expect(await codeOf('file:///etc/passwd')).toBe('invalid_request')
})

test('gives no answer that is longer than its limit, that is broken off or that is too slow', async () => {
  const long = await receiver((_, response) => void response.end('x'.repeat(5_000)))
  expect(await codeOf(long.url, { allowLoopback: true, maxResponseBytes: 4_999 })).toBe('too_large')
  expect(await codeOf(long.url, { allowLoopback: true, maxResponseBytes: 5_000 })).toBe('answered 200')
  const endless = await receiver((_, response) => {
    const write = () => {
      while (response.write('x'.repeat(65_536))) {}
      response.once('drain', write)
    }
    write()
  })
  expect(await codeOf(endless.url)).toBe('too_large')
  const broken = await receiver((_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('some', () => response.destroy())
  })
  expect(await codeOf(broken.url)).toBe('unreachable')
  const slow = await receiver(() => {})
  expect(await codeOf(slow.url, { allowLoopback: true, timeoutMs: 50 })).toBe('timeout')
})
