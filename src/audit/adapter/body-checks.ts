import { AuditError, equal, hold, within } from '../check.ts'
import { type Bench, type Check, check, head } from './bench.ts'
import type { Head, Http1 } from './http1.ts'
import type { Echo } from './probe.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const MEGABYTE = 1_000_000
/** Longer than an adapter should keep reading a body that the handler ignores. */
const ENDLESS_MS = 5_000

export const bodyChecks = {
  'adapter.body.json': check([], async (bench) => {
    const sent = { text: 'grüße 🙂', deep: [{ n: 1.5 }, null, true] }
    const init = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(sent) }
    const echo = await bench.echo('/probe/echo', init)
    equal('the body', JSON.parse(echo.text), sent)
    if (echo.parsedBody !== undefined) {
      equal('context.parsedBody', echo.parsedBody, sent)
      equal('headers of a body that was parsed', Object.keys(bodyHeaders(echo)), ['content-type'])
    }
    const response = await bench.fetch('/probe/fields', init)
    equal('the value a handler read', await response.json(), { value: sent })
  }),
  'adapter.body.text': check([], async (bench) => {
    const echo = await bench.echo('/probe/echo', { method: 'POST', body: 'as it is' })
    equal('the body', echo.text, 'as it is')
    equal('the type of context.parsedBody', echo.parsedType, 'undefined')
  }),
  'adapter.body.any-type': check(['own-bodies'], async (bench) => {
    const typed = await bench.echo('/probe/echo', { method: 'POST', headers: JSON_TYPE })
    equal('the body of a JSON request without one', typed.text, '')
    const untyped = await bench.echo('/probe/echo', { method: 'PUT', body: new TextEncoder().encode('{') })
    equal('a body without a type', untyped.text, '{')
  }),
  'adapter.body.large': check(['own-bodies'], async (bench) => {
    const body = `"${'x'.repeat(3 * MEGABYTE)}"`
    const response = await bench.fetch('/probe/upload', { method: 'POST', headers: JSON_TYPE, body })
    equal('the length of the body', await response.json(), { length: body.length })
  }),
  'adapter.body.limit': check(['own-bodies', 'drain'], async (bench) => {
    let left = 20
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- > 0) controller.enqueue(new Uint8Array(MEGABYTE / 10).fill(0x20))
        else controller.close()
      },
    })
    const init = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' } as RequestInit
    const response = await bench.fetch('/probe/fields', init)
    equal('the status', response.status, 413)
    equal('the error', (await response.json()).error, 'payload_too_large')
  }),
  'adapter.body.get': check(['connect'], async (bench) => {
    const http = await bench.send('GET', '/probe/echo', { 'content-length': '5' }, 'hello')
    const echo = await readEcho(http)
    equal('the body', [echo.text, echo.bodyIsNull], ['', true])
    await http.send(head(bench, 'GET', '/probe/echo?second='))
    equal('the second request', new URL((await readEcho(http)).url).search, '?second=')
  }),
  'adapter.body.refused': check(['connect'], (bench) => refused(bench, '/probe/refuse')),
  'adapter.body.refused-midway': check(['connect', 'drain'], (bench) =>
    refused(bench, '/probe/refuse-midway'),
  ),
  'adapter.body.endless': check(['connect', 'drain'], async (bench) => {
    const http = bench.connect()
    const chunk = new Uint8Array(MEGABYTE)
    await http.send(head(bench, 'POST', '/probe/refuse', { 'content-length': String(1_000_000 * MEGABYTE) }))
    const end = Date.now() + ENDLESS_MS
    const sending = (async () => {
      while (Date.now() < end) await http.send(chunk)
    })()
    const cut = await within(
      'the end of the connection',
      sending.then(neverCut, () => true),
      2 * ENDLESS_MS,
    )
    hold('an upload of which nobody reads', cut, 'cut', `taken in for ${ENDLESS_MS} ms`)
  }),
  'adapter.body.stalled': check(['connect', 'drain'], async (bench) => {
    const http = await bench.send('POST', '/probe/refuse', { 'content-length': '5000' }, 'only this')
    equal('the status', (await http.head()).status, 413)
    await within('the end of the connection', http.closed())
  }),
  'adapter.body.abort': check(['connect', 'disconnect'], async (bench) => {
    const http = await bench.send('POST', `/probe/upload/${bench.key}`, { 'content-length': '5000' }, 'half')
    await bench.reach('the handler begun', ({ started }) => started)
    await http.cut()
    await bench.reach('an error of the body', ({ bodyError }) => bodyError !== null)
  }),
  'adapter.body.utf8': check(['connect'], async (bench) => {
    const http = bench.connect()
    const bytes = new TextEncoder().encode('é🙂')
    await http.send(head(bench, 'POST', '/probe/echo', { 'content-length': String(bytes.byteLength) }))
    for (const byte of bytes) {
      // The state response proves that the server has read what was sent before.
      await bench.state()
      await http.send(new Uint8Array([byte]))
    }
    equal('the body', (await readEcho(http)).text, 'é🙂')
  }),
} satisfies Record<string, Check>

export async function readEcho(http: Http1): Promise<Echo> {
  const answer = await http.head()
  equal('the status', answer.status, 200)
  return JSON.parse(await http.body(answer))
}

/** The response must arrive although the upload is not read. Then the connection must continue or close. */
async function refused(bench: Bench, target: string): Promise<void> {
  const http = bench.connect()
  const size = 8 * MEGABYTE
  await http.send(head(bench, 'POST', target, { 'content-length': String(size) }))
  const sent = http.send(new Uint8Array(size)).catch(() => 'cut')
  const answer = await http.head()
  equal('the status', answer.status, 413)
  await http.body(answer)
  const next = async (): Promise<Head | 'cut'> => {
    if ((await sent) === 'cut') return 'cut'
    await http.send(head(bench, 'GET', '/probe/fields'))
    return http.head()
  }
  const after = await within('the connection after a refusal', next().catch(cutOff))
  if (after !== 'cut') equal('the status of the next request', after.status, 200)
}

function cutOff(error: unknown): 'cut' {
  // A closed connection is also a valid outcome; a stall is not.
  if (error instanceof AuditError && error.seen === 'none') throw error
  return 'cut'
}

function neverCut(): boolean {
  return false
}

function bodyHeaders(echo: Echo): Record<string, string> {
  const names = ['content-type', 'content-length', 'content-encoding', 'transfer-encoding']
  return Object.fromEntries(echo.headers.filter(([name]) => names.includes(name)))
}
