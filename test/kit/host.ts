import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { mountSockets, PINGS } from '../../adapters/node/sockets.ts'
import { toNode } from '../../adapters/node.ts'
import type { Ticker } from '../../src/core/http/index.ts'
import { type AgentServer, createAgentServer, type OwnEngineOptions } from '../../src/index.ts'
import { type ThreadClient, threadClient } from './client.ts'
import { errorMessage, unexpectedErrors } from './errors.ts'
import { listen } from './listen.ts'

/** A server of agents behind a real socket. It closes with the test, which fails if the server reported an error that the test did not take. */
export interface Host {
  readonly origin: string
  readonly server: AgentServer
  /** The errors that `onError` was called with, without the failures of agents. */
  readonly errors: unknown[]
  /** The connections that are open, on the server's side. */
  connections(): readonly Socket[]
  /** Cuts every connection, as a proxy or a lost network does. */
  cut(): void
  thread(id?: string, headers?: Readonly<Record<string, string>>): ThreadClient
}

export async function serveAgents(options: OwnEngineOptions, pings: Ticker = PINGS): Promise<Host> {
  const { errors, reporters } = unexpectedErrors(options.observe)
  const server = createAgentServer({ errorMessage, ...options, ...reporters })
  const sockets = new Set<Socket>()
  // Errors of the transport come from the streams that the tests break.
  const http = createServer(toNode(server, { onError() {} }))
  http.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  mountSockets(http, { handler: server, options: { onError() {} }, pings })
  const origin = `http://127.0.0.1:${await listen(http)}`
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(async () => {
    await server.close()
    cut()
    await new Promise((resolve) => http.close(resolve))
    // A client may reconnect while the server closes, and is refused.
    expect(errors.filter((error) => (error as { code?: unknown }).code !== 'closed')).toEqual([])
  })
  let made = 0
  return {
    origin,
    server,
    errors,
    connections: () => [...sockets],
    cut,
    thread: (id = `thread-${++made}`, headers = {}) => threadClient(origin, id, headers),
  }
}
