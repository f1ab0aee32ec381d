import WebSocket from 'ws'
import type { WebSocketFactory } from '../../../src/audit/index.ts'
import { socketOf } from '../../../src/core/http/index.ts'
import { textsOf } from '../../../src/core/http/sockets/native.ts'
import type { WebHandler } from '../../../src/index.ts'
import type { Json } from '../../kit/events.ts'

/** Real web sockets. */
export const webSocketFactory: WebSocketFactory = (url, { headers }) => new WebSocket(url, { headers })

/** Something that a server does wrong with web sockets, around one that does it right. */
export interface SocketFault {
  /** Another URL is called. */
  readonly url?: (url: string) => string
  /** Messages of the client are others; undefined drops one. */
  readonly sent?: (message: Json) => Json | undefined
  /** Messages of the server are others. Asked for each socket; told is the place of a message on it. */
  readonly received?: () => (message: Json, at: number) => readonly Json[]
  /** The end of one socket ends all. */
  readonly together?: true
}

/** Web sockets to a handler in this process. */
export function inProcessSockets(server: WebHandler, fault: SocketFault = {}): WebSocketFactory {
  const open = new Set<() => void>()
  return (url, { headers }) => {
    const target = new EventTarget()
    const tell = (type: string, more: object = {}) =>
      target.dispatchEvent(Object.assign(new Event(type), more))
    const request = new Request((fault.url?.(url) ?? url).replace(/^ws/, 'http'), {
      headers: { ...headers, upgrade: 'websocket' },
    })
    const opening = server.fetch(request).then((response) => {
      const session = socketOf(response)
      if (!session) {
        tell('error', { message: `Status ${response.status}` })
        tell('close')
        return undefined
      }
      const received = fault.received?.() ?? ((message: Json) => [message])
      let at = 0
      session.open({
        send(frames) {
          const messages = textsOf(frames).flatMap((text) => received(JSON.parse(text), at++))
          for (const message of messages) tell('message', { data: JSON.stringify(message) })
          return true
        },
        close,
      })
      tell('open')
      return session
    })
    let closed = false
    function close(): void {
      if (closed) return
      closed = true
      open.delete(close)
      void opening.then((session) => {
        session?.close()
        tell('close')
      })
      if (fault.together) for (const end of open) end()
    }
    open.add(close)
    return {
      send(text) {
        const sent = fault.sent ? changed(text, fault.sent) : text
        if (sent !== undefined) void opening.then((session) => !closed && session?.message(sent))
      },
      close,
      addEventListener: (type, listener) => target.addEventListener(type, listener as (event: Event) => void),
    }
  }
}

function changed(text: string, change: (message: Json) => Json | undefined): string | undefined {
  let message: Json
  try {
    message = JSON.parse(text)
  } catch {
    return text
  }
  const sent = change(message)
  return sent === undefined ? undefined : JSON.stringify(sent)
}
