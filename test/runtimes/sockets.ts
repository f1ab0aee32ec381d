import { Client } from '@langchain/langgraph-sdk'
import { StreamController, type StreamControllerOptions } from '@langchain/langgraph-sdk/stream'
import { expect, onTestFinished } from 'vitest'
import WebSocket from 'ws'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { threadClient } from '../kit/client.ts'
import { isTerminal, type Json, type WireEvent } from '../kit/events.ts'
import { openSocket, refusedSocket, socketUrl } from '../kit/socket.ts'
import { untilStore } from '../kit/stream-store.ts'

const newThread = () => crypto.randomUUID()

const isOver = (events: readonly WireEvent[]) => events.some(isTerminal)
const seqs = (events: readonly WireEvent[]) => events.map(({ seq }) => seq)

/** LangGraph's own client over web sockets, as `useStream` uses it. */
function openPage(apiUrl: string, assistantId: string): StreamController<Json, Json> {
  const client = new Client({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0 } })
  const webSocketFactory = (url: string) => new WebSocket(url)
  const options = { assistantId, client, threadId: newThread(), transport: 'websocket', webSocketFactory }
  const page = new StreamController<Json, Json>(options as unknown as StreamControllerOptions<Json>)
  onTestFinished(() => page.dispose())
  return page
}

async function subscribed(base: string, threadId: string) {
  const socket = await openSocket(socketUrl(base, threadId))
  const answer = await socket.command('subscription.subscribe', { channels: ALL_CHANNELS })
  return { ...socket, id: answer.result.subscription_id as string }
}

const human = (content: string) => ({ messages: [{ type: 'human', content, id: crypto.randomUUID() }] })

/** What web sockets do on every runtime, at the base of a server with the agents of `mounts`. */
export const socketScenarios: Readonly<Record<string, (base: string) => Promise<void>>> = {
  async 'a page chats, is asked, and answers'(base) {
    const page = openPage(base, 'interrupt')
    await page.submit(human('Do it.'))
    const { interrupts } = await untilStore(page.rootStore, (now) => now.interrupts.length === 1)
    await page.respond('yes', { interruptId: interrupts[0]!.id! })
    await untilStore(
      page.rootStore,
      ({ isLoading, interrupts, values }) =>
        !isLoading && interrupts.length === 0 && JSON.stringify(values).includes('yes'),
    )
  },

  async 'a client that is gone comes back for the rest, which the run has gone on with'(base) {
    const threadId = newThread()
    const first = await subscribed(base, threadId)
    const { result } = await first.command('run.start', { assistant_id: 'slow', input: human('Count.') })
    const seen = await first.until((events) => events.length > 1)
    first.socket.terminate()
    const second = await openSocket(socketUrl(base, threadId))
    const from = { last_event_id: seen.at(-1)!.event_id, subscriptions: [first.id] }
    const answer = await second.command('subscription.reconnect', { run_id: result.run_id, ...from })
    expect(answer.result.restored).toBe(true)
    const rest = await second.until(isOver)
    expect([...seen, ...rest]).toEqual(await threadClient(base, threadId, {}).transcript())
  },

  async 'a socket that is not read slows nobody, and has everything once it is read'(base) {
    const threadId = newThread()
    const stalled = await subscribed(base, threadId)
    stalled.socket.pause()
    const reader = await subscribed(base, threadId)
    await reader.command('run.start', { assistant_id: 'flood', input: {} })
    const events = await reader.until(isOver)
    expect(events.length).toBeGreaterThan(400)
    stalled.socket.resume()
    expect(seqs(await stalled.until(isOver))).toEqual(seqs(events))
  },

  async 'a token may be offered as a subprotocol'(base) {
    const { socket } = await openSocket(socketUrl(base, newThread()), { protocols: ['bearer.x'] })
    expect(socket.protocol).toBe('bearer.x')
  },

  async 'a page of another origin is refused'(base) {
    const origin = 'https://elsewhere.example'
    const { status, body } = await refusedSocket(socketUrl(base, newThread()), { origin })
    expect([status, JSON.parse(body).error]).toEqual([403, 'origin_not_allowed'])
  },

  async 'what is no command is answered, in text and in binary frames'(base) {
    const socket = await openSocket(socketUrl(base, newThread()))
    for (const message of ['{', new Uint8Array([0xff]), new TextEncoder().encode('[]')]) socket.send(message)
    const answer = await socket.command('agent.getTree', { run_id: 'none' })
    expect(answer).toMatchObject({ type: 'error' })
    expect(socket.received.map(({ id }) => id)).toEqual([null, null, null, 1])
  },

  async 'a message above the limit of bodies ends the socket'(base) {
    const socket = await openSocket(socketUrl(base, newThread()))
    socket.send('x'.repeat(5 * 1024 * 1024))
    expect([1009, 4413]).toContain((await socket.closed)[0])
  },
}
