import { equal, hold, rejection, settled, within } from '../check.ts'
import { type Bench, type Check, check, head } from './bench.ts'
import { CHUNK_BYTES } from './sources.ts'

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
