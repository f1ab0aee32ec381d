import { Client } from '@langchain/langgraph-sdk'
import WebSocket from 'ws'
import { ALL_CHANNELS } from '../kit/channels.ts'
import type { Json, WireEvent } from '../kit/events.ts'
import type { Connection, Read } from './follower.ts'

/** How a client subscribes: by a command among others on its socket, or by a filter that is all it sends on a socket of its own. */
export type Dialect = 'commands' | 'filter'

/** Reads a thread over web sockets, and comes back with `since`. */
export const overSocket =
  (dialect: Dialect): Read =>
  ({ url, since, signal, take }: Connection) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url)
      const leave = () => socket.terminate()
      signal.addEventListener('abort', leave, { once: true })
      const filter = { channels: ALL_CHANNELS, since }
      const frame =
        dialect === 'filter' ? filter : { id: 1, method: 'subscription.subscribe', params: filter }
      socket.on('open', () => socket.send(JSON.stringify(frame)))
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Json
        try {
          if (message.type === 'event') take([message as WireEvent])
          else if (dialect === 'filter' || message.type !== 'success')
            throw new Error(`It was answered ${data}.`)
        } catch (error) {
          reject(error)
          leave()
        }
      })
      // It was refused or cut, which the end tells.
      socket.on('error', () => {})
      socket.on('close', (code) => {
        signal.removeEventListener('abort', leave)
        resolve(code >= 4_400 && code < 4_500 ? code - 4_000 : undefined)
      })
    })

/** Sends one command over a socket of its own, and gives its result. */
export async function commandOver(
  origin: string,
  threadId: string,
  method: string,
  params: object,
): Promise<Json> {
  const socket = new WebSocket(`${origin}/threads/${threadId}/stream/events`)
  try {
    const answer = await new Promise<Json>((resolve, reject) => {
      socket.on('open', () => socket.send(JSON.stringify({ id: 1, method, params })))
      socket.on('message', (data) => resolve(JSON.parse(String(data))))
      socket.on('error', reject)
    })
    if (answer.type !== 'success') throw new Error(`${method}: ${JSON.stringify(answer)}`)
    return answer.result
  } finally {
    socket.terminate()
  }
}

/** LangGraph's own client over a web socket, which comes back by itself. */
export interface SdkFollower {
  readonly seen: readonly WireEvent[]
  start(input: object): Promise<string>
  close(): Promise<void>
}

export async function followBySdk(
  apiUrl: string,
  threadId: string,
  assistantId: string,
): Promise<SdkFollower> {
  const { threads } = new Client({ apiUrl, apiKey: null })
  const thread = threads.stream(threadId, {
    assistantId,
    transport: 'websocket',
    webSocketFactory: (url: string) => new WebSocket(url) as never,
    reconnectDelayMs: () => 50,
    maxReconnectAttempts: 100,
  })
  const seen: WireEvent[] = []
  const events = await thread.subscribe({ channels: ['custom', 'lifecycle'] })
  const reading = (async () => {
    for await (const event of events) seen.push(event as unknown as WireEvent)
  })()
  return {
    seen,
    async start(input) {
      return (await thread.submitRun({ input })).run_id!
    },
    async close() {
      await thread.close()
      await reading
    },
  }
}
