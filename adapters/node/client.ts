import type { NodeRequest, NodeResponse } from './types.ts'

/** The client of one exchange: whether it is still connected, and callbacks for when it disconnects. */
export interface Client {
  readonly gone: boolean
  /** Created on first use, because a signal costs more than the rest of a small request. */
  readonly signal: AbortSignal
  /** Calls back when the client disconnects, or immediately if it already has. */
  onGone(callback: (reason: DOMException) => void): void
  /** Marks the response as complete. What happens to the connection after that is not an abort. */
  finish(): void
  /** Returns the exchange to the host and removes this adapter's listeners. */
  handBack(): void
}

export function watchClient(req: NodeRequest, res: NodeResponse): Client {
  const callbacks: ((reason: DOMException) => void)[] = []
  let controller: AbortController | undefined
  let reason: DOMException | undefined
  let finished = false

  function disconnect(): void {
    if (reason || finished) return
    reason = new DOMException('The client closed the connection.', 'AbortError')
    controller?.abort(reason)
    for (const callback of callbacks) callback(reason)
  }
  function finish(): void {
    finished = true
    res.off('close', disconnect)
    unwatchSocket?.()
  }

  // `res`, not `req`: a request closes as soon as its body is read.
  res.on('close', disconnect)
  // Without a listener, a write that races with the disconnect would end the process.
  res.on('error', disconnect)
  // A pipelined response waits without a socket, and emits no `close` when the connection closes.
  const pipelined = req.httpVersionMajor < 2 && (res as { readonly socket?: unknown }).socket === null
  const unwatchSocket = pipelined ? onSocketClose(req.socket as Socket, disconnect) : undefined
  if (hasDisconnected(req, res)) disconnect()

  return {
    get gone() {
      return reason !== undefined
    },
    get signal() {
      if (!controller) {
        controller = new AbortController()
        if (reason) controller.abort(reason)
      }
      return controller.signal
    },
    onGone(callback) {
      if (reason) callback(reason)
      else callbacks.push(callback)
    },
    finish,
    handBack() {
      finish()
      res.off('error', disconnect)
    },
  }
}

function hasDisconnected(req: NodeRequest, res: NodeResponse): boolean {
  const { stream } = res as { readonly stream?: { readonly destroyed: boolean } }
  const socket = req.socket as { readonly destroyed?: boolean } | null | undefined
  return req.aborted || stream?.destroyed === true || socket?.destroyed === true
}

interface Socket {
  on(event: 'close', listener: () => void): unknown
}

const waiting = new WeakMap<Socket, Set<() => void>>()

/** One listener for each socket, however many requests a client pipelines. */
function onSocketClose(socket: Socket, callback: () => void): () => void {
  let callbacks = waiting.get(socket)
  if (!callbacks) {
    const all = new Set<() => void>()
    waiting.set(socket, all)
    socket.on('close', () => {
      for (const each of all) each()
    })
    callbacks = all
  }
  callbacks.add(callback)
  return () => callbacks.delete(callback)
}
