import { createServer } from 'node:http'
import { AgentCard as CardV1, StreamResponse } from '@a2a-js/sdk'
import {
  type ExecutionEventBus as BusV1,
  DefaultRequestHandler as HandlerV1,
  InMemoryTaskStore as StoreV1,
} from '@a2a-js/sdk/server'
import { jsonRpcHandler as rpcV1, UserBuilder as UsersV1 } from '@a2a-js/sdk/server/express'
import type { ExecutionEventBus as BusV03, AgentExecutionEvent as EventV03 } from 'a2a-sdk-03/server'
import { DefaultRequestHandler as HandlerV03, InMemoryTaskStore as StoreV03 } from 'a2a-sdk-03/server'
import { jsonRpcHandler as rpcV03, UserBuilder as UsersV03 } from 'a2a-sdk-03/server/express'
import express from 'express'
import { onTestFinished } from 'vitest'
import { v1 } from '../../../src/faces/a2a/dialects/v1.ts'
import { v03 } from '../../../src/faces/a2a/dialects/v03.ts'
import type { A2AMessage, Part, StreamItem, TaskState } from '../../../src/faces/a2a/model.ts'
import type { Json } from '../../kit/events.ts'
import { listen } from '../../kit/listen.ts'

/** What a scripted agent is given of one message. */
export interface Turn {
  readonly text: string
  readonly message: Json
  /** Whether the message is for a task that waits. */
  readonly isAnswer: boolean
  readonly cancelled: AbortSignal
  task(state?: TaskState): StreamItem
  status(state: TaskState, text?: string, parts?: readonly Part[]): StreamItem
  artifact(id: string, parts: string | readonly Part[], more?: ArtifactDetails): StreamItem
  bare(...parts: readonly Part[]): StreamItem
}

interface ArtifactDetails {
  readonly name?: string
  readonly append?: boolean
  readonly lastChunk?: boolean
}

/** What an agent answers to a message. The first item is a task or a message. */
export type Script = (turn: Turn) => AsyncIterable<StreamItem> | Iterable<StreamItem>

export interface RemoteServer {
  readonly url: string
  /** The JSON-RPC requests so far. */
  readonly requests: readonly Json[]
  readonly headers: readonly Json[]
  /** The methods of the requests so far. */
  methods(): readonly string[]
  /** Cuts every connection that is open. */
  cut(): void
  /** Lets nobody connect until it is called again with false. */
  refuse(isDown: boolean): void
}

export type Version = '1.0' | '0.3'

export interface RemoteOptions {
  readonly streaming?: boolean
  readonly card?: Readonly<Record<string, unknown>>
}

/** An agent behind the official SDK's server of that version, on the loopback interface. */
export async function startRemote(
  version: Version,
  script: Script,
  { streaming = true, card: more = {} }: RemoteOptions = {},
): Promise<RemoteServer> {
  const app = express()
  const server = createServer(app)
  const port = await listen(server)
  const origin = `http://127.0.0.1:${port}`
  const requests: Json[] = []
  const headers: Json[] = []
  let isDown = false
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const card = { ...cardOf(version, origin, streaming), ...more }
  app.use((request: Json, _response: Json, next: () => void) => {
    if (isDown) return void request.socket.destroy()
    next()
  })
  app.get('/agent/.well-known/agent-card.json', (request: Json, response: Json) => {
    headers.push(request.headers)
    response.json(card)
  })
  const record = (request: Json, _response: Json, next: () => void) => {
    requests.push(request.body)
    headers.push(request.headers)
    next()
  }
  app.use(
    '/rpc',
    express.json({ limit: '20mb' }),
    record,
    version === '1.0' ? serveV1(card, script) : serveV03(card, script),
  )
  return {
    url: `${origin}/agent`,
    requests,
    headers,
    methods: () => requests.map(({ method }) => method),
    cut: () => server.closeAllConnections(),
    refuse: (down) => void (isDown = down),
  }
}

export function cardOf(version: Version, origin: string, streaming = true): Json {
  const common = {
    name: 'Scripted',
    description: 'An agent of the tests.',
    version: '1',
    capabilities: { streaming, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 's', name: 's', description: 's', tags: ['s'] }],
  }
  return version === '1.0'
    ? {
        ...common,
        supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      }
    : { ...common, url: `${origin}/rpc`, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' }
}

const cancels = new Map<string, AbortController>()

function turnOf(
  message: Json,
  taskId: string,
  contextId: string,
  isAnswer: boolean,
  cancelled: AbortSignal,
): Turn {
  const parts: Json[] = message.parts ?? []
  const text = parts
    .map((part) => part.text ?? (part.content?.$case === 'text' ? part.content.value : ''))
    .join('')
  const said = (given: readonly Part[]): A2AMessage => ({
    messageId: crypto.randomUUID(),
    role: 'agent',
    parts: given,
    contextId,
    taskId,
  })
  const timestamp = new Date().toISOString()
  const partsOf = (given: string | readonly Part[]): readonly Part[] =>
    typeof given === 'string' ? [{ kind: 'text', text: given }] : given
  return {
    text,
    message,
    isAnswer,
    cancelled,
    task: (state = 'submitted') => ({
      type: 'task',
      task: { id: taskId, contextId, status: { state, timestamp }, history: [], artifacts: [] },
    }),
    status(state, words, more = []) {
      const all = [...(words === undefined ? [] : partsOf(words)), ...more]
      const isFinal = !['submitted', 'working'].includes(state)
      const status = { state, timestamp, ...(all.length > 0 && { message: said(all) }) }
      return { type: 'status', taskId, contextId, status, final: isFinal }
    },
    artifact: (artifactId, given, { name, append = false, lastChunk = false } = {}) => ({
      type: 'artifact',
      taskId,
      contextId,
      artifact: { artifactId, name, parts: partsOf(given) },
      append,
      lastChunk,
    }),
    bare: (...given) => ({ type: 'message', message: { ...said(given), taskId: undefined } }),
  }
}

async function play(turn: Turn, script: Script, publish: (item: StreamItem) => void): Promise<void> {
  for await (const item of script(turn)) {
    if (turn.cancelled.aborted) return
    publish(item)
  }
}

function serveV1(card: Json, script: Script): unknown {
  const publish = (bus: BusV1) => (item: StreamItem) => {
    const { payload } = StreamResponse.fromJSON(JSON.parse(JSON.stringify(v1.writeItem(item))))
    bus.publish({ kind: payload!.$case, data: payload!.value } as never)
  }
  const executor = {
    async execute({ userMessage, taskId, contextId, task }: Json, bus: BusV1) {
      const stop = new AbortController()
      cancels.set(taskId, stop)
      await play(
        turnOf(userMessage, taskId, contextId, task !== undefined, stop.signal),
        script,
        publish(bus),
      )
      bus.finished()
    },
    async cancelTask(taskId: string, bus: BusV1) {
      cancels.get(taskId)?.abort()
      publish(bus)({
        type: 'status',
        taskId,
        contextId: '',
        status: { state: 'canceled', timestamp: new Date().toISOString() },
        final: true,
      })
      bus.finished()
    },
  }
  const requestHandler = new HandlerV1(CardV1.fromJSON(card), new StoreV1(), executor as never)
  return rpcV1({ requestHandler, userBuilder: UsersV1.noAuthentication })
}

function serveV03(card: Json, script: Script): unknown {
  const publish = (bus: BusV03) => (item: StreamItem) =>
    bus.publish(JSON.parse(JSON.stringify(v03.writeItem(item))) as EventV03)
  const executor = {
    async execute({ userMessage, taskId, contextId, task }: Json, bus: BusV03) {
      const stop = new AbortController()
      cancels.set(taskId, stop)
      await play(
        turnOf(userMessage, taskId, contextId, task !== undefined, stop.signal),
        script,
        publish(bus),
      )
      bus.finished()
    },
    async cancelTask(taskId: string, bus: BusV03) {
      cancels.get(taskId)?.abort()
      publish(bus)({
        type: 'status',
        taskId,
        contextId: '',
        status: { state: 'canceled', timestamp: new Date().toISOString() },
        final: true,
      })
      bus.finished()
    },
  }
  const requestHandler = new HandlerV03(card, new StoreV03(), executor as never)
  return rpcV03({ requestHandler, userBuilder: UsersV03.noAuthentication })
}
