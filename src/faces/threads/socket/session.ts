import {
  checkText,
  chosenProtocol,
  HttpError,
  isResponse,
  onExpiry,
  type SocketSession,
  socketResponse,
  textFrame,
} from '../../../core/http/index.ts'
import { accessOf, ownerOf, type Principal, withAccess } from '../../../core/principal.ts'
import { internalsOf, RunError } from '../../../engine/index.ts'
import { asking } from '../../kit/asking.ts'
import { reporterOf } from '../../kit/errors.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { answerCommand, type TransportCommands } from '../commands/dispatch.ts'
import type { OpenSocket, ThreadsContext } from '../context.ts'
import { isPython } from './subscription-request.ts'
import { createSubscriptions, type Subscriptions, subscriptionCommands } from './subscriptions.ts'
import { createSocketWriter, type SocketWriter } from './writer.ts'

/**
 * The maximum of unanswered messages, and of their total length, in multiples of the longest allowed message.
 */
const MAX_WAITING = 1_000
const MAX_WAITING_LENGTH = 4
/**
 * How long a new subscription waits for others that its client opens at the same time, in milliseconds: their
 * messages may arrive separately.
 */
const GATHER_MS = 20

type SocketMessage = string | Uint8Array

/** How long the caller of a socket is taken for granted before a command, in milliseconds. */
const CHECKED_MS = 5_000

/**
 * `GET …/stream` and `…/stream/events` with `Upgrade: websocket`: receives commands, sends their answers and
 * the thread's events.
 */
export async function openSocket(context: ThreadsContext, call: FaceCall): Promise<Response> {
  return socketResponse(createSession(context, call))
}

/** The session of a web socket on a thread. It keeps no state until a host has opened the socket. */
function createSession(context: ThreadsContext, call: FaceCall): SocketSession {
  const { maxBodyBytes } = context
  let session: ThreadSession
  return {
    protocol: chosenProtocol(call.request),
    maxMessageBytes: maxBodyBytes,
    open(peer) {
      session = openSession(context, call, createSocketWriter(peer))
      // It may be told to end immediately.
      context.sockets.add(session.socket)
    },
    message(data) {
      if (data.length > maxBodyBytes) session.writer.end(1009, `A message has at most ${maxBodyBytes} bytes.`)
      else take(session, data)
    },
    drain: () => session.writer.drained(),
    close() {
      session.writer.onClosed()
      close(session)
    },
  }
}

interface ThreadSession {
  readonly context: ThreadsContext
  readonly call: FaceCall
  readonly caller: Caller
  readonly writer: SocketWriter
  readonly socket: OpenSocket
  readonly subscriptions: Subscriptions
  readonly commands: TransportCommands
  readonly report: (error: unknown) => void
  readonly waiting: SocketMessage[]
  waitingLength: number
  isAnswering: boolean
  isLeaving: boolean
  takesCloseForEnd: boolean
  /** Subscriptions that start when their answers were sent. */
  later: (() => void)[]
  gathering: ReturnType<typeof setTimeout> | undefined
}

function openSession(context: ThreadsContext, call: FaceCall, writer: SocketWriter): ThreadSession {
  const { engine } = context
  const report = reporterOf(context, call)
  const subscriptions = createSubscriptions({
    engine,
    call,
    writer,
    onEnd: (reason) => endBy(session, reason),
    report,
  })
  const session: ThreadSession = {
    context,
    call,
    caller: createCaller(call, () => end(session, 4401, 'The credentials have expired.')),
    writer,
    socket: { leave: () => leave(session) },
    subscriptions,
    commands: subscriptionCommands(engine, call, subscriptions, (start) => session.later.push(start)),
    report,
    waiting: [],
    waitingLength: 0,
    isAnswering: false,
    isLeaving: false,
    takesCloseForEnd: isPython(call.request.headers),
    later: [],
    gathering: undefined,
  }
  return session
}

function leave(session: ThreadSession): void {
  session.isLeaving = true
  if (!session.isAnswering && session.subscriptions.size === 0) endForRestart(session)
}

function end(session: ThreadSession, code: number, reason: string): void {
  session.writer.end(code, reason)
  close(session)
}

function close(session: ThreadSession): void {
  session.context.sockets.delete(session.socket)
  clearTimeout(session.gathering)
  session.caller.forget()
  session.subscriptions.closeAll()
  session.waiting.length = 0
}

/**
 * Ends the socket so that clients reconnect. The Python client, recognized by a plain filter, treats 1001 as
 * final.
 */
function endForRestart(session: ThreadSession): void {
  end(session, session.takesCloseForEnd ? 1012 : 1001, 'This server is shutting down.')
}

/**
 * Ends the socket for a reason that ends its subscriptions. The code is 4000 plus the HTTP status if clients
 * should not reconnect.
 */
function endBy(session: ThreadSession, reason: unknown): void {
  if (!(reason instanceof RunError)) end(session, 1011, 'The stream was interrupted.')
  else if (reason.code === 'closing') endForRestart(session)
  else end(session, 4404, 'The thread no longer exists.')
}

function take(session: ThreadSession, message: SocketMessage): void {
  const { writer, waiting, context } = session
  if (writer.ended) return
  session.waitingLength += message.length
  const most = MAX_WAITING_LENGTH * context.maxBodyBytes
  if (waiting.push(message) > MAX_WAITING || session.waitingLength > most)
    end(session, 1008, 'Too many messages are waiting for a response.')
  else if (!session.isAnswering) void answerAll(session)
}

/** Answers one message after the other, as fast as the answers are accepted. */
async function answerAll(session: ThreadSession): Promise<void> {
  const { waiting } = session
  session.isAnswering = true
  try {
    for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) {
      session.waitingLength -= message.length
      await answer(session, message)
    }
  } catch (error) {
    session.report(error)
    endBy(session, error)
  }
  session.isAnswering = false
  gather(session)
  if (session.isLeaving) leave(session)
}

async function answer(session: ThreadSession, message: SocketMessage): Promise<void> {
  const { context, call, caller, writer } = session
  if (!(await caller.isStillValid())) return end(session, 4401, 'The credentials are no longer valid.')
  let value: unknown
  const json = async () => {
    value = read(message, context.maxBodyBytes)
    session.takesCloseForEnd ||= isFilter(value)
    return isFilter(value) ? { id: 0, method: 'subscription.subscribe', params: value } : value
  }
  const own = { ...call, principal: caller.principal }
  const { status, body } = await answerCommand(asking(context, own), { ...own, json }, session.commands)
  const work = internalsOf(context.engine).working(call.threadId)
  if (work) call.waitUntil(work)
  // Another server should start a run that this server no longer starts.
  if (status === 503 && !('type' in body)) return endForRestart(session)
  const isSilent = isFilter(value) && status === 200 && session.later.length > 0
  if (!isSilent) await writer.write(() => textFrame(JSON.stringify(body)))
}

function gather(session: ThreadSession): void {
  if (session.later.length > 0 && !session.writer.ended)
    session.gathering ??= setTimeout(() => begin(session), GATHER_MS)
}

/**
 * Starts the new subscriptions together, so that their events come in one order. Clients open several at the
 * same time, and stop reading if one of them reports the end of a run before the others have started.
 */
function begin(session: ThreadSession): void {
  session.gathering = undefined
  // The answer to a subscription comes before its events. `gather` is called again after the answer.
  if (session.isAnswering) return
  const starts = session.later
  session.later = []
  for (const start of starts) start()
}

interface Caller {
  readonly principal: Principal | null
  /**
   * Whether the caller may still use the socket: a token may have been revoked since the handshake. Errors of
   * `authenticate` itself are thrown.
   */
  isStillValid(): Promise<boolean>
  forget(): void
}

function createCaller(call: FaceCall, expire: () => void): Caller {
  let { principal } = call
  let checkedAt = Date.now()
  let forget = onExpiry(principal, expire)
  return {
    get principal() {
      return principal
    },
    async isStillValid() {
      if (Date.now() - checkedAt < CHECKED_MS) return true
      try {
        const found = await call.identify()
        if (isResponse(found)) return false
        if (found?.id !== principal?.id || ownerOf(found) !== ownerOf(principal)) return false
        // The handshake's permission bounds the whole socket.
        const { metadataFilter } = accessOf(principal)
        principal = found && withAccess(found, { metadataFilter })
      } catch (error) {
        if (error instanceof HttpError && (error.status === 401 || error.status === 403)) return false
        throw error
      }
      checkedAt = Date.now()
      forget()
      forget = onExpiry(principal, expire)
      return true
    },
    forget: () => forget(),
  }
}

const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true })

/** Parses a message. Throws `HttpError` 400 or 413. */
function read(message: SocketMessage, maxBytes: number): unknown {
  try {
    const text = typeof message === 'string' ? message : decoder.decode(message)
    checkText('message', text, { maxBytes })
    return JSON.parse(text)
  } catch (cause) {
    if (cause instanceof HttpError) throw cause
    throw new HttpError(400, 'invalid_json', 'The message is not valid JSON in UTF-8.', { cause })
  }
}

/**
 * Whether a message is a subscription filter without a command around it, which is the first message of the
 * Python client.
 */
const isFilter = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'channels' in value && !('method' in value)
