import { AuditError, equal } from '../check.ts'
import { ALL, at, readEvent, resultOf } from './events.ts'
import { createIntake, type Reader } from './intake.ts'

/** What the audits use of a web socket: those of browsers, of Node from 22 on and of `ws` have it. */
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
  /** Of a message: its text. */
  readonly data?: unknown
  /** Of an error, where its host tells it. */
  readonly message?: string
}

/** Opens a web socket. Its handshake must have these headers, for servers that authenticate. */
export type WebSocketFactory = (
  url: string,
  options: { readonly headers: Readonly<Record<string, string>> },
) => AuditedSocket

/** An open web socket that takes in all that comes. */
export interface AuditSocket extends Reader {
  /** Everything that came, answers and events, in order. */
  readonly messages: readonly unknown[]
  /** Sends a value as JSON, and a text as it is. */
  send(message: unknown): void
  /** The answer to a command. */
  command(method: string, params?: unknown): Promise<unknown>
  /** The result of a command that must succeed. */
  ok(method: string, params?: unknown): Promise<unknown>
  /** Opens a subscription to every channel, or to those of a filter, and gives its id. */
  subscribe(filter?: Readonly<Record<string, unknown>>): Promise<string>
  /** The next message that is not an event, after `after` events. */
  answer(after: number): Promise<unknown>
  /** Settles when the socket has ended. */
  close(): Promise<void>
}

/** Opens a socket until `leave` is aborted. Rejects where the handshake fails. */
export async function openSocket(
  factory: WebSocketFactory,
  url: string,
  headers: Readonly<Record<string, string>>,
  leave: AbortController,
): Promise<AuditSocket> {
  const intake = createIntake('socket')
  const { look, over, wait } = intake
  const messages: unknown[] = []
  const answers: unknown[] = []
  let isOpen = false
  let why: string | undefined
  const socket = factory(url, { headers })
  socket.addEventListener('open', () => {
    isOpen = true
    look()
  })
  socket.addEventListener('error', ({ message }) => {
    why ??= message || undefined
    over('by breaking')
  })
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener('close', () => {
      over('cleanly')
      resolve()
    })
  })
  socket.addEventListener('message', ({ data }) => {
    const message = parsed(data)
    const event = at(message, 'type') === 'event' ? readEvent(message) : undefined
    messages.push(message)
    if (event) intake.events.push(event)
    else answers.push(message)
    look()
  })
  leave.signal.addEventListener('abort', () => {
    over('because time ran out')
    socket.close()
  })
  try {
    await wait('an open web socket', () => isOpen || undefined)
  } catch (error) {
    throw why === undefined
      ? error
      : new AuditError(`the web socket ${url}`, 'it to open', why, { cause: error })
  }

  let commands = 0
  const send = (message: unknown) =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message))

  async function command(method: string, params: unknown = {}): Promise<unknown> {
    const id = ++commands
    send({ id, method, params })
    return wait(`an answer to ${method}`, () => answers.find((answer) => at(answer, 'id') === id))
  }

  async function ok(method: string, params?: unknown): Promise<unknown> {
    return resultOf(method, await command(method, params))
  }

  return {
    ...intake,
    messages,
    send,
    command,
    ok,
    async subscribe(filter = {}) {
      const result = await ok('subscription.subscribe', { channels: ALL, ...filter })
      const id = at(result, 'subscription_id')
      equal('the type of subscription_id', typeof id, 'string')
      return id as string
    },
    answer: (after) => wait('an answer', () => answers[after]),
    close() {
      socket.close()
      return closed
    },
  }
}

/** The JSON of a message. Any other is left as it came, and no rule takes it for an answer or an event. */
function parsed(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : data
  } catch {
    return data
  }
}
