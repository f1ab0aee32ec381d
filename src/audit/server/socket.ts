import { AuditError, equal } from '../check.ts'
import { ALL, at, readEvent, resultOf } from './events.ts'
import { createIntake } from './stream.ts'

/** The part of a web socket that the audits use. Browsers, Node 22 or newer, and `ws` provide it. */
export interface AuditedSocket {
  send(text: string): void
  close(): void
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: AuditedSocketEvent) => void,
  ): void
}

export interface AuditedSocketEvent {
  readonly type: string
  /** The text of a message. */
  readonly data?: unknown
  /** The message of an error, if the runtime provides it. */
  readonly message?: string
}

/** Opens a web socket. The handshake must send these headers, for servers that authenticate. */
export type WebSocketFactory = (
  url: string,
  options: { readonly headers: Readonly<Record<string, string>> },
) => AuditedSocket

/** An open web socket that receives all messages. */
export type AuditSocket = Awaited<ReturnType<typeof openSocket>>

/** Opens a socket until `leave` is aborted. Rejects if the handshake fails. */
export async function openSocket(
  factory: WebSocketFactory,
  url: string,
  headers: Readonly<Record<string, string>>,
  leave: AbortController,
) {
  const intake = createIntake('socket')
  const { wait } = intake
  const socket = factory(url, { headers })
  const { messages, answers, closed } = await received(socket, url, intake, leave)
  let commands = 0
  /** Sends a value as JSON. A string is sent unchanged. */
  const send = (message: unknown): void =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message))

  async function command(method: string, params: unknown = {}): Promise<unknown> {
    const id = ++commands
    send({ id, method, params })
    return wait(`an answer to ${method}`, () => answers.find((answer) => at(answer, 'id') === id))
  }

  const ok = async (method: string, params?: unknown): Promise<unknown> =>
    resultOf(method, await command(method, params))

  return {
    ...intake,
    /** All received messages, responses and events, in order. */
    messages,
    send,
    /** The response to a command. */
    command,
    /** The result of a command that must succeed. */
    ok,
    /** Opens a subscription and returns its id. Default filter: every channel. */
    async subscribe(filter: Readonly<Record<string, unknown>> = {}): Promise<string> {
      const result = await ok('subscription.subscribe', { channels: ALL, ...filter })
      const id = at(result, 'subscription_id')
      equal('the type of subscription_id', typeof id, 'string')
      return id as string
    },
    /** The next message that is not an event, after `after` events. */
    answer: (after: number): Promise<unknown> => wait('an answer', () => answers[after]),
    /** Resolves when the socket has closed. */
    close(): Promise<void> {
      socket.close()
      return closed
    },
  }
}

/** Waits until a socket is open. The messages and answers grow as it receives them. */
async function received(
  socket: AuditedSocket,
  url: string,
  { events, look, over, wait }: ReturnType<typeof createIntake>,
  leave: AbortController,
) {
  const messages: unknown[] = []
  const answers: unknown[] = []
  let isOpen = false
  let why: string | undefined
  socket.addEventListener('open', () => {
    isOpen = true
    look()
  })
  socket.addEventListener('error', ({ message }) => {
    why ??= message || undefined
    over('broken')
  })
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener('close', () => {
      over('ended')
      resolve()
    })
  })
  socket.addEventListener('message', ({ data }) => {
    const message = parsed(data)
    const event = at(message, 'type') === 'event' ? readEvent(message) : undefined
    messages.push(message)
    if (event) events.push(event)
    else answers.push(message)
    look()
  })
  leave.signal.addEventListener('abort', () => {
    over('timeout')
    socket.close()
  })
  try {
    await wait('an open web socket', () => isOpen || undefined)
  } catch (error) {
    throw why === undefined
      ? error
      : new AuditError(`the web socket ${url}`, 'it to open', why, { cause: error })
  }
  return { messages, answers, closed }
}

/** The parsed JSON of a message. Other data is kept as it is, and matches no rule. */
function parsed(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : data
  } catch {
    return data
  }
}
