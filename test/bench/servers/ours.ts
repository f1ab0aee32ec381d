import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { acceptSockets, toNode } from '../../../adapters/node.ts'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { agUi } from '../../../src/faces/ag-ui/index.ts'
import { aiSdk } from '../../../src/faces/ai-sdk/index.ts'
import { mcp } from '../../../src/faces/mcp/index.ts'
import { createAgentServer, memoryCheckpointer } from '../../../src/index.ts'
import { openStorage } from '../../../src/storage/open.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import {
  answer,
  bareTokensGraph,
  bulk,
  bulkFunction,
  burst,
  echo,
  echoGraph,
  tokensGraph,
  words,
  writerGraph,
} from './agents.ts'
import { layers } from './layers.ts'
import { serveCalls } from './process.ts'
import { runBody, waitRuns } from './rest.ts'
import { roundTrips } from './round-trips.ts'
import { ticks, tickTimes } from './ticks.ts'

const { store, checkpointer } = await openStorage(process.env.STORAGE_URL!)
const handler = createAgentServer({
  agents: {
    answer,
    burst,
    bulk,
    bulkFunction,
    echo,
    ticks,
    words,
    writer: langgraph(writerGraph),
    tokens: langgraph(tokensGraph),
    echoGraph: langgraph(echoGraph),
  },
  faces: [aiSdk(), mcp(), agUi()],
  authenticate: () => ({ id: 'bench' }),
  store,
  checkpointer,
})
const server: Server = createServer(toNode(handler))
acceptSockets(server, handler)

const sockets = new Set<Socket>()
server.on('connection', (socket) => {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
})

const graph = bareTokensGraph(memoryCheckpointer())

interface EngineEvent {
  readonly method: string
  readonly params: { readonly data: { readonly event?: string } }
}

interface Iterate {
  readonly threadId: string
  readonly say: string
  readonly encode?: boolean
}

const encoder = new TextEncoder()

/** Iterates the graph without any server. Gives milliseconds to the first token. */
async function iterate({ threadId, say, encode }: Iterate): Promise<number> {
  const began = performance.now()
  const frames: Uint8Array[] = []
  let first = 0
  const run = await graph.streamEvents({ messages: [{ type: 'human', content: say }] } as never, {
    version: 'v3',
    configurable: { thread_id: threadId },
  })
  for await (const { method, params } of run as AsyncIterable<EngineEvent>) {
    if (first === 0 && params.data.event === 'content-block-delta') first = performance.now() - began
    if (!encode) continue
    const event = { type: 'event', event_id: frames.length, seq: frames.length, method, params }
    frames.push(encoder.encode(`id: ${frames.length}\nevent: ${method}\ndata: ${JSON.stringify(event)}\n\n`))
  }
  return first
}

interface Subscribe {
  readonly path: string
  readonly filter: unknown
  readonly times: number
}

/** Subscribes without a socket, reads what is there, and leaves, so many times. Gives the CPU time of each in microseconds. */
async function subscribe({ path, filter, times }: Subscribe): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    const body = JSON.stringify(filter)
    const headers = { 'content-type': 'application/json' }
    const response = await handler.fetch(
      new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body }),
    )
    const reader = response.body!.getReader()
    await reader.read() // The opening comment.
    await reader.read()
    await reader.cancel()
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

interface ShortRuns {
  readonly assistantId: string
  readonly say: string
  readonly times: number
  /** Default: those of every kind. */
  readonly channels?: readonly string[]
}

const post = (path: string, body: unknown): Promise<Response> =>
  handler.fetch(
    new Request(`http://127.0.0.1/threads/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

/** Runs so many times on a new thread, each from its command to the end of its stream. Gives the CPU time of each in microseconds. */
async function shortRuns({ assistantId, say, times, channels = ALL_CHANNELS }: ShortRuns): Promise<number> {
  const decoder = new TextDecoder()
  const input = { messages: [{ type: 'human', content: say }] }
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    const threadId = crypto.randomUUID()
    const command = { id: 1, method: 'run.start', params: { assistant_id: assistantId, input } }
    const started = await (await post(`${threadId}/commands`, command)).text()
    if (!started.includes('"success"')) throw new Error(started)
    const stream = await post(`${threadId}/stream/events`, { channels })
    const reader = stream.body!.getReader()
    while (
      !decoder.decode((await reader.read()).value).includes(`"completed","graph_name":"${assistantId}"`)
    );
    await reader.cancel()
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

interface RestRuns {
  readonly assistantId: string
  readonly say: string
  readonly times: number
  readonly modes: readonly string[]
}

/** The same over `runs/stream`, to the end of its response. */
async function streamRuns({ assistantId, say, times, modes }: RestRuns): Promise<number> {
  const decoder = new TextDecoder()
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    const response = await post(`${crypto.randomUUID()}/runs/stream`, {
      ...runBody(assistantId, say),
      stream_mode: modes,
    })
    let frames = 0
    for await (const bytes of response.body!) {
      const text = decoder.decode(bytes)
      frames += text.split('\ndata: ').length - 1
      if (text.includes('event: error')) throw new Error(text)
    }
    if (frames < (Number(say) || 1)) throw new Error(`A stream had ${frames} frames.`)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

type AgUiRuns = Omit<ShortRuns, 'channels'>

/** The same over AG-UI. */
async function agUiRuns({ assistantId, say, times }: AgUiRuns): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    const ids = { threadId: crypto.randomUUID(), runId: crypto.randomUUID() }
    const messages = [{ id: crypto.randomUUID(), role: 'user', content: say }]
    const response = await handler.fetch(
      new Request(`http://127.0.0.1/ag-ui/${assistantId}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...ids, protocolVersion: '1.0', messages }),
      }),
    )
    const text = await response.text()
    const frames = text.split('\ndata: ').length - 1
    if (!text.includes('RUN_FINISHED') || frames < (Number(say) || 1))
      throw new Error(`A stream had ${frames} frames.`)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

/** The threads of `longTurns`, each with the turns that it has had. */
const contexts = new Map<string, number>()

interface LongTurns {
  readonly context: string
  readonly assistantId: string
  readonly face: 'a2a' | 'wait'
  readonly times: number
}

/** So many turns of one thread, one after the other, without a socket. Gives the CPU time of each in microseconds. */
async function longTurns({ context, assistantId, face, times }: LongTurns): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    const turn = contexts.get(context) ?? 0
    contexts.set(context, turn + 1)
    const text = `This is message ${turn} of a long conversation.`
    const response = await (face === 'a2a'
      ? sendMessage(assistantId, context, text)
      : post(`${context}/runs/wait`, runBody(assistantId, text)))
    // It is not parsed, nor decoded: that is its reader's.
    const bytes = Buffer.from(await response.arrayBuffer())
    if (!bytes.includes(face === 'a2a' ? '"completed"' : '"type":"ai"')) throw new Error(bytes.toString())
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

function sendMessage(assistantId: string, contextId: string, text: string): Promise<Response> {
  const messageId = crypto.randomUUID()
  const message = { kind: 'message', messageId, contextId, role: 'user', parts: [{ kind: 'text', text }] }
  return handler.fetch(
    new Request(`http://127.0.0.1/a2a/${assistantId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }),
    }),
  )
}

/** The same of the graph without a server. */
async function bareRuns({ say, times }: Omit<ShortRuns, 'assistantId'>): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) await iterate({ threadId: crypto.randomUUID(), say })
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

await serveCalls(server, {
  shortRuns,
  layers: layers(handler),
  streamRuns,
  agUiRuns,
  waitRuns: waitRuns(handler),
  longTurns,
  bareRuns,
  subscribe,
  iterate,
  tickTimes,
  roundTrips,
  /** The most bytes that wait in this process for one reader. */
  waiting: () => Math.max(0, ...[...sockets].map((socket) => socket.writableLength)),
})
