import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { openReader, type Reader, type ReaderOptions } from './reader.ts'
import type { Server } from './server.ts'

/** The input of a benchmark's agent: `Work` for those that send events, messages for the one that answers. */
export type Input = Readonly<Record<string, unknown>>

export const newThread = (): string => randomUUID()

export const eventsPath = (threadId: string): string => `/threads/${threadId}/stream/events`

export interface Filter {
  readonly channels: readonly string[]
  readonly since?: number
}

/** The events of every kind. */
export const ALL: Filter = { channels: ALL_CHANNELS }

/** Opens many readers of one thread, a few at a time. */
export async function openReaders(
  { port }: Server,
  threadId: string,
  count: number,
  options: { readonly filter: Filter } & Pick<ReaderOptions, 'gapless' | 'onEvent' | 'webSocket'>,
): Promise<Reader[]> {
  const readers: Reader[] = []
  while (readers.length < count) {
    const some = Array.from({ length: Math.min(50, count - readers.length) }, () =>
      openReader({ port, path: eventsPath(threadId), body: options.filter, ...options }),
    )
    readers.push(...(await Promise.all(some)))
  }
  return readers
}

const agent = new Agent({ keepAlive: true })

/** Starts a run over the protocol. */
export async function startRun(
  { port }: Server,
  threadId: string,
  assistantId: string,
  input: Input,
): Promise<void> {
  const command = { id: 1, method: 'run.start', params: { assistant_id: assistantId, input } }
  const answer = await post(port, `/threads/${threadId}/commands`, JSON.stringify(command))
  if ((JSON.parse(answer) as { readonly type: string }).type !== 'success') throw new Error(answer)
}

/** Sends a request over a kept connection. It does not use the tests' client, because `fetch` alone takes half a millisecond. */
export function post(port: number, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers, agent }, (response) => {
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

/** Runs an agent to its end, with one reader of `lifecycle` on the thread. */
export async function runToEnd(
  server: Server,
  threadId: string,
  assistantId: string,
  input: Input,
): Promise<void> {
  const [reader] = await openReaders(server, threadId, 1, { filter: { channels: ['lifecycle'] } })
  await startRun(server, threadId, assistantId, input)
  await reader!.received(2)
  reader!.close()
}
