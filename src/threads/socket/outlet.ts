import type { SocketPeer } from '../../http/index.ts'

/** Where a session sends to: never more than the network takes. */
export interface Outlet {
  readonly ended: boolean
  /** Asks for the next frames and sends them, as soon as the network has taken those before. Settles when that is done. */
  write(next: () => Uint8Array | undefined): Promise<void>
  /** The network has taken what was sent. */
  drained(): void
  /** Ends the socket with a close code. The first call counts. */
  end(code: number, reason: string): void
  /** The socket is gone. */
  lost(): void
}

export function createOutlet(peer: SocketPeer): Outlet {
  let ended = false
  let room: Promise<void> | undefined
  let makeRoom = () => {}
  const drained = () => {
    room = undefined
    makeRoom()
  }
  const lost = () => {
    ended = true
    drained()
  }
  return {
    get ended() {
      return ended
    },
    async write(next) {
      while (room) await room
      const frames = ended ? undefined : next()
      try {
        if (!frames || peer.send(frames)) return
      } catch {
        return lost() // The socket has closed, and its host tells the session in a moment.
      }
      room = new Promise((resolve) => {
        makeRoom = resolve
      })
    },
    drained,
    end(code, reason) {
      if (ended) return
      lost()
      peer.close(code, reason)
    },
    lost,
  }
}
