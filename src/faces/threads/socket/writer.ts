import type { SocketPeer } from '../../../core/http/index.ts'

/** Sends the frames of a session, never more than the network accepts. */
export interface SocketWriter {
  readonly ended: boolean
  /**
   * Requests the next frames and sends them: at once, or when the network has accepted the previous ones. In
   * the latter case it returns a promise.
   */
  write(next: () => Uint8Array | undefined): Promise<void> | undefined
  /** The network has accepted the frames that were sent. */
  drained(): void
  /** Closes the socket with a close code. Later calls have no effect. */
  end(code: number, reason: string): void
  /** The socket was closed. */
  onClosed(): void
}

export function createSocketWriter(peer: SocketPeer): SocketWriter {
  let ended = false
  let room: Promise<void> | undefined
  let makeRoom = () => {}
  const drained = () => {
    room = undefined
    makeRoom()
  }
  const onClosed = () => {
    ended = true
    drained()
  }
  const send = (next: () => Uint8Array | undefined): undefined => {
    const frames = ended ? undefined : next()
    try {
      if (!frames || peer.send(frames)) return
    } catch {
      return void onClosed() // The socket is closed, and its host will notify the session.
    }
    room = new Promise((resolve) => {
      makeRoom = resolve
    })
  }
  const sendLater = async (next: () => Uint8Array | undefined): Promise<void> => {
    while (room) await room
    send(next)
  }
  return {
    get ended() {
      return ended
    },
    // Avoids a promise for each batch of each socket, which would cost as much as its frames.
    write: (next) => (room ? sendLater(next) : send(next)),
    drained,
    end(code, reason) {
      if (ended) return
      onClosed()
      peer.close(code, reason)
    },
    onClosed,
  }
}
