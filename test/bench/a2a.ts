import { Agent, request } from 'node:http'
import { type Bench, median, type Row, runAlone, takeTurns, times } from './support/report.ts'
import { type Server, withServers } from './support/server.ts'

/**
 * Measures the server's CPU time of A2A requests over kept connections, against the official SDK's server for Express and against a
 * fetch handler that only answers. Both peers get the same requests.
 */

const ROUNDS = 9
const SENDS = 400
const STREAMS = 12
const CHUNKS = 500
/** Requests at once. */
const CONCURRENCY = 8

interface Dialect {
  readonly version: string
  readonly send: string
  readonly stream: string
  readonly get: string
  readonly message: (text: string) => object
}

const messageId = () => `message-${crypto.randomUUID()}`

const V03: Dialect = {
  version: '0.3',
  send: 'message/send',
  stream: 'message/stream',
  get: 'tasks/get',
  message: (text) => ({
    kind: 'message',
    messageId: messageId(),
    role: 'user',
    parts: [{ kind: 'text', text }],
  }),
}

const V1: Dialect = {
  version: '1.0',
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  message: (text) => ({ messageId: messageId(), role: 'ROLE_USER', parts: [{ text }] }),
}

const connections = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
let requests = 0

/** Calls a method, and gives the body of the answer. */
function call({ port }: Server, { version }: Dialect, method: string, params: object): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: ++requests, method, params })
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'a2a-version': version,
  }
  return new Promise((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      path: '/a2a/echo',
      method: 'POST',
      headers,
      agent: connections,
    }
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

interface Answer {
  readonly result?: Readonly<Record<string, unknown>>
}

/** The task of an answer to a message, in either dialect. Throws where it is not the answer that was expected. */
function completed(body: string, text: string): Readonly<Record<string, unknown>> {
  const { result } = JSON.parse(body) as Answer
  const task = (result?.task ?? result) as Readonly<Record<string, unknown>> | undefined
  const state = (task?.status as { readonly state?: string } | undefined)?.state ?? ''
  if (/completed$/i.test(state) && JSON.stringify(task?.artifacts).includes(JSON.stringify(text)))
    return task!
  throw new Error(body)
}

const resultsOf = (stream: string): readonly object[] =>
  [...stream.matchAll(/^data: (.*)$/gm)].map(([, json]) => (JSON.parse(json!) as { result: object }).result)

const TEXT = 'The quick brown fox jumps over the lazy dog.'

const send = async (server: Server, dialect: Dialect) =>
  call(server, dialect, dialect.send, { message: dialect.message(TEXT) })

const stream = (server: Server, dialect: Dialect) =>
  call(server, dialect, dialect.stream, { message: dialect.message(String(CHUNKS)) })

/** Microseconds of the server's CPU time for each of so many calls, of which `CONCURRENCY` are open at once. */
async function measure(server: Server, count: number, one: () => Promise<unknown>): Promise<number> {
  const before = await server.cpu()
  let left = count
  const worker = async () => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return ((await server.cpu()) - before) / count
}

const sends = (server: Server, dialect: Dialect) => () =>
  measure(server, SENDS, async () => completed(await send(server, dialect), TEXT))

async function gets(server: Server, dialect: Dialect) {
  const { id } = completed(await send(server, dialect), TEXT)
  return () =>
    measure(server, SENDS, async () => completed(await call(server, dialect, dialect.get, { id }), TEXT))
}

const streams = (server: Server, dialect: Dialect) => () =>
  measure(server, STREAMS, async () => {
    const frames = (await stream(server, dialect)).split('\ndata: ').length
    if (frames < CHUNKS) throw new Error(`A stream had ${frames} frames.`)
  })

export const a2a: Bench = () =>
  withServers(['ours', 'a2a-sdk', 'a2a-bare'], async (ours, sdk, bare) => {
    const rows: Row[] = []
    for (const dialect of [V03, V1]) {
      const ofBare = async (body: string, frames: string) => {
        await bare.call('answerWith', JSON.parse(body) as object)
        await bare.call('streamWith', resultsOf(frames))
      }
      await ofBare(await send(ours, dialect), await stream(ours, dialect))
      const sent = await takeTurns(ROUNDS, {
        ours: sends(ours, dialect),
        sdk: sends(sdk, dialect),
        bare: sends(bare, dialect),
      })
      const got = await takeTurns(ROUNDS, {
        ours: await gets(ours, dialect),
        sdk: await gets(sdk, dialect),
      })
      const streamed = await takeTurns(ROUNDS, {
        ours: streams(ours, dialect),
        sdk: streams(sdk, dialect),
        bare: streams(bare, dialect),
      })
      const { version } = dialect
      rows.push(
        row(`A2A ${version}, ${dialect.send}, vs the SDK's server`, sent.ours, sent.sdk, 1 / 5),
        row('the same, vs a bare fetch handler', sent.ours, sent.bare, 1.7),
        row("a bare fetch handler, vs the SDK's server", sent.bare, sent.sdk),
        row(`A2A ${version}, ${dialect.get}, vs the SDK's server`, got.ours, got.sdk, 1 / 5),
        row(
          `A2A ${version}, ${dialect.stream} of ${CHUNKS} chunks, vs the SDK's server`,
          streamed.ours,
          streamed.sdk,
        ),
        row('the same, vs the same frames from a generator', streamed.ours, streamed.bare, 1.5),
      )
    }
    return rows
  })

/** The rounds of a young process, whose code is still compiled, do not count. */
const warm = (values: readonly number[]): number => median(values.slice(2))

function row(bench: string, ours: readonly number[], peer: readonly number[], target?: number): Row {
  const ratio = warm(ours) / warm(peer)
  return {
    bench,
    ours: `${Math.round(warm(ours))} us`,
    peer: `${Math.round(warm(peer))} us`,
    ratio: times(ratio),
    target: target === undefined ? '' : `<= ${times(target)}`,
    ...(target !== undefined && { met: ratio <= target }),
  }
}

await runAlone(import.meta.url, a2a)
