import { connect as dial, type Socket } from 'node:net'
import type { RawSocket } from '../../src/audit/index.ts'

/** Opens a TCP connection that takes nothing from the network before it is read. */
export function connect({ hostname, port }: { hostname: string; port: number }): RawSocket {
  const socket = dial({ host: hostname, port, noDelay: true })
  socket.pause()
  return {
    readable: readableOf(socket),
    writable: writableOf(socket),
    async close() {
      socket.destroy()
    },
  }
}

function readableOf(socket: Socket): ReadableStream<Uint8Array> {
  let ended = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        socket.on('data', (chunk: Uint8Array) => {
          socket.pause()
          controller.enqueue(new Uint8Array(chunk))
        })
        socket.on('error', (error) => {
          ended = true
          controller.error(error)
        })
        socket.on('close', () => {
          if (!ended) controller.close()
        })
      },
      pull: () => void socket.resume(),
      cancel: () => void socket.destroy(),
    },
    { highWaterMark: 0 },
  )
}

function writableOf(socket: Socket): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        const cut = () => reject(new Error('The connection was closed.'))
        if (socket.destroyed) return cut()
        socket.once('close', cut)
        socket.write(chunk, (error) => {
          socket.off('close', cut)
          if (error) reject(error)
          else resolve()
        })
      }),
  })
}
