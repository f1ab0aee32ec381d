import type { SocketPeer } from '../../http/index.ts'

/** Where a session sends to: never more than the network takes. */
export interface Outlet {
  readonly ended: boolean
  /** Asks for the next frames and sends them: at once, or as soon as the network has taken those before. Then it gives a promise of that. */
  write(next: () => Uint8Array | undefined): Promise<void> | undefined
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
  const send = (next: () => Uint8Array | undefined): undefined => {
    const frames = ended ? undefined : next()
    try {
      if (!frames || peer.send(frames)) return
    } catch {
      return void lost() // The socket has closed, and its host tells the session in a moment.
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
    // A promise for each batch of each socket would cost as much as its frames.
    write: (next) => (room ? sendLater(next) : send(next)),
    drained,
    end(code, reason) {
      if (ended) return
      lost()
      peer.close(code, reason)
    },
    lost,
  }
}
