import { equal, hold, rejection, settled, within } from '../check.ts'
import { type Bench, type Check, check, head } from './bench.ts'
import { SECRET } from './probe.ts'
import { isAlive } from './request-checks.ts'
import { CHUNK_BYTES } from './sources.ts'

const HOST_HEADERS = { 'x-host': 'yes', 'set-cookie': 'host=1; Path=/', vary: 'X-Odd' }

export const responseChecks = {
  'adapter.head': check([], async (bench) => {
    const response = await bench.fetch(`/probe/endless/${bench.key}`, { method: 'HEAD' })
    equal('the status', response.status, 200)
    const type = response.headers.get('content-type') ?? ''
    hold('the type', type.startsWith('text/event-stream'), 'that of GET', type)
    equal('the body', await response.text(), '')
    const { pulls } = await bench.reach('the body cancelled', ({ cancelled }) => cancelled === 1)
    equal('what was pulled', pulls, 0)
    await isAlive(bench)
  }),
  'adapter.options': check(['options'], async (bench) => {
    const response = await bench.fetch('/probe/fields', { method: 'OPTIONS' })
    equal('the status', response.status, 204)
    const allowed = response.headers.get('allow')?.split(/, */) ?? []
    hold('the allowed methods', allowed.includes('GET') && allowed.includes('POST'), 'GET and POST', allowed)
  }),
  'adapter.cookies': check([], async (bench) => {
    const { headers } = await bench.fetch('/probe/cookies')
    equal('the cookies', headers.getSetCookie(), ['a=1; Path=/', 'b=2; Path=/'])
  }),
  'adapter.hop-by-hop': check([], async (bench) => {
    const response = await bench.fetch('/probe/hop-by-hop')
    equal('the answer', [response.status, await response.text()], [200, 'sent'])
  }),
  'adapter.empty': check([], async (bench) => {
    const response = await bench.fetch('/probe/no-content')
    equal('the answer', [response.status, await response.text()], [204, ''])
    await isAlive(bench)
  }),
  'adapter.length': check(['length'], async (bench) => {
    const response = await bench.fetch('/probe/fields')
    const text = await response.text()
    equal('content-length', response.headers.get('content-length'), String(text.length))
  }),
  'adapter.error.midway': check(['broken-streams'], async (bench) => {
    const response = await bench.fetch(`/probe/break/${bench.key}`)
    await broken(response)
    await isAlive(bench)
  }),
  'adapter.error.first': check(['broken-streams'], async (bench) => {
    const response = await bench.fetch(`/probe/break-first/${bench.key}`).catch(() => undefined)
    if (response?.status === 500) await withoutSecret(response)
    else if (response) await broken(response)
    await isAlive(bench)
  }),
  'adapter.error.thrown': check(['errors'], (bench) => failing(bench, '/probe/throw')),
  'adapter.error.thrown-at-once': check(['errors'], (bench) => failing(bench, '/probe/throw-at-once')),
  'adapter.error.bad-response': check(['errors'], (bench) => failing(bench, '/probe/bad-response')),
  'adapter.host-headers': {
    needs: ['host-headers'],
    start: { headers: HOST_HEADERS },
    async run(bench) {
      for (const path of ['/probe/cookies', '/probe/fields', '/probe/throw']) {
        const { headers } = await bench.fetch(path)
        equal(`a header of the host at ${path}`, headers.get('x-host'), 'yes')
        equal(`the cookie of the host at ${path}`, headers.getSetCookie()[0], 'host=1; Path=/')
        hold(`vary at ${path}`, headers.get('vary')?.includes('X-Odd') === true, 'X-Odd', headers.get('vary'))
      }
    },
  },
} satisfies Record<string, Check>

async function failing(bench: Bench, path: string): Promise<void> {
  const response = await bench.fetch(path)
  equal('the status', response.status, 500)
  await withoutSecret(response)
  await isAlive(bench)
}

async function withoutSecret(response: Response): Promise<void> {
  const text = await response.text()
  hold('the body', !text.includes(SECRET) && !/^\s{1,8}at /m.test(text), 'no detail of the error', text)
}

/** The body must fail, and must not look complete. */
async function broken(response: Response): Promise<void> {
  const decoder = new TextDecoder()
  const reader = response.body!.getReader()
  let text = ''
  for (;;) {
    const read = await within('the end of the stream', reader.read()).catch(() => undefined)
    hold('what came before the error', !text.includes(SECRET), 'no detail of the error', text)
    if (!read) return
    hold('the end of a stream that broke', !read.done, 'an error', text)
    text += decoder.decode(read.value, { stream: true })
  }
}

/** More than the socket buffers of both sides hold, and far less than an unpaused source produces. */
const PAUSED_BYTES = 48 * 1024 * 1024

export const streamChecks = {
  'adapter.abort.idle': check(['disconnect'], async (bench) => {
    await leave(bench, 'idle')
    await bench.reach('the stream cancelled', ({ cancelled }) => cancelled === 1)
  }),
  'adapter.abort.signal': check(['disconnect', 'signal'], async (bench) => {
    await leave(bench, 'watched', { method: 'POST', body: 'x' })
    await bench.reach('the signal', ({ aborted }) => aborted === 1)
  }),
  'adapter.abort.not-early': check([], async (bench) => {
    const { response } = await bench.open(`/probe/watched/${bench.key}`, { method: 'POST', body: 'x' })
    const rest = await readUntil(response, ': ok\n')
    const aborted = async () => (await bench.state()).aborted
    equal('the signal while the response is open', await settled('the signal', aborted), 0)
    await bench.release()
    equal('the rest of the response', await rest(), '')
    equal('the signal after the response', await settled('the signal', aborted), 0)
  }),
  'adapter.abort.collected': check(['disconnect', 'signal', 'collect'], async (bench) => {
    const { response, leave } = await bench.open(`/probe/watched-request/${bench.key}`)
    await readUntil(response, ': ok\n')
    for (let times = 0; times < 5; times++) {
      await bench.state()
      bench.collect()
    }
    leave()
    await bench.reach('the signal', ({ aborted }) => aborted === 1)
  }),
  'adapter.abort.before-response': check(['disconnect'], async (bench) => {
    const leaving = new AbortController()
    const answer = bench.fetch(`/probe/gated-response/${bench.key}`, { signal: leaving.signal })
    const left = rejection('the request', answer)
    await bench.reach('the handler begun', ({ started }) => started)
    leaving.abort()
    await left
    await bench.release()
    await bench.reach('the body cancelled', ({ opened, cancelled }) => opened === 1 && cancelled === 1)
  }),
  'adapter.abort.pipelined': check(['connect', 'disconnect', 'pipelining'], async (bench) => {
    const http = bench.connect()
    const second = head(bench, 'POST', `/probe/watched/${bench.key}`, { 'content-length': '1' })
    await http.send(head(bench, 'GET', `/probe/idle/${bench.key}`), second, 'x')
    await bench.reach('both streams open', ({ opened }) => opened === 2)
    await http.cut()
    await bench.reach('both streams cancelled', ({ cancelled }) => cancelled === 2)
  }),
  'adapter.stream.chunks': check([], async (bench) => {
    await comesInTwo(bench, 'gated-event')
  }),
  'adapter.stream.whole': check([], async (bench) => {
    const response = await bench.fetch(`/probe/bytes/${bench.key}?count=5000000`)
    equal('the bytes', (await response.arrayBuffer()).byteLength, 5_000_000)
  }),
  'adapter.stream.paused': check(['connect', 'disconnect', 'backpressure'], async (bench) => {
    const http = await bench.send('GET', `/probe/endless/${bench.key}`)
    await bench.reach('the source pulled', ({ pulls }) => pulls > 0)
    const pulls = await settled('a source whose reader has stopped', async () => (await bench.state()).pulls)
    hold('bytes taken from the source', pulls * CHUNK_BYTES < PAUSED_BYTES, 'few', pulls * CHUNK_BYTES)
    await http.cut()
    await bench.reach('the stream cancelled', ({ cancelled }) => cancelled === 1)
  }),
  'adapter.stream.early-headers': check(['early-headers'], async (bench) => {
    const { response } = await bench.open(`/probe/gated-body/${bench.key}`)
    equal('the status', response.status, 200)
    await bench.release()
    equal('the body', await response.text(), 'data: 1\n\n')
  }),
  'adapter.compression.event-stream': check([], async (bench) => {
    const { headers } = await comesInTwo(bench, 'gated-event', GZIP)
    equal('content-encoding', headers.get('content-encoding'), null)
  }),
  'adapter.compression.flush': check([], async (bench) => {
    await comesInTwo(bench, 'compressible', GZIP)
  }),
  'adapter.sse.late-event': check(['disconnect'], async (bench) => {
    await leave(bench, 'stuck')
    await bench.reach('the source let go of', ({ cancelled }) => cancelled === 1)
  }),
  'adapter.sse.frames': check([], async (bench) => {
    const response = await bench.fetch('/probe/unsafe')
    const frame = 'event: ab\ndata: one\ndata: two\ndata: three\ndata: four\n\n'
    equal('the frame', await response.text(), frame)
    equal('the status where the id has a line end', (await bench.fetch('/probe/unsafe-id')).status, 500)
  }),
  'adapter.sse.heartbeat': check(['disconnect'], async (bench) => {
    const { response, leave } = await bench.open(`/probe/beating/${bench.key}`)
    await readUntil(response, ': heartbeat\n: heartbeat\n')
    leave()
    await bench.reach('the source let go of', ({ cancelled }) => cancelled === 1)
  }),
  'adapter.close': check(['shutdown'], async (bench) => {
    const { response } = await bench.open(`/probe/idle/${bench.key}`)
    const rest = await readUntil(response, ': ok\n')
    await bench.close()
    equal('the rest of the stream', await rest(), '')
  }),
} satisfies Record<string, Check>

const GZIP = { headers: { 'accept-encoding': 'gzip' } }

/** Reads the start of a stream, then disconnects. */
async function leave(bench: Bench, path: string, init?: RequestInit): Promise<void> {
  const stream = await bench.open(`/probe/${path}/${bench.key}`, init)
  await readUntil(stream.response, ': ok\n')
  stream.leave()
}

/** Checks that the first event of a stream arrives before the second is sent. */
async function comesInTwo(bench: Bench, path: string, init?: RequestInit): Promise<Response> {
  const { response } = await bench.open(`/probe/${path}/${bench.key}`, init)
  const rest = await readUntil(response, 'data: 1\n\n')
  await bench.release()
  equal('what came after', await rest(), 'data: 2\n\n')
  return response
}

/** Reads until `text` arrives. Returns a function that reads the rest. */
async function readUntil(response: Response, text: string): Promise<() => Promise<string>> {
  const reader = response
    .body!.pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>
  let seen = ''
  while (!seen.includes(text)) {
    const { done, value } = await within(`"${text}" of the stream`, reader.read())
    hold('the stream', !done, text, seen)
    seen += value
  }
  return async () => {
    let rest = ''
    for (;;) {
      const { done, value } = await within('the rest of the stream', reader.read())
      if (done) return rest
      rest += value
    }
  }
}
