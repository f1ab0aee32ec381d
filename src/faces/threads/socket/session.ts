import {
  checkText,
  chosenProtocol,
  HttpError,
  isResponse,
  onExpiry,
  type SocketSession,
  textFrame,
} from '../../../core/http/index.ts'
import { accessOf, ownerOf, withAccess } from '../../../core/principal.ts'
import { internalsOf, RunError } from '../../../engine/index.ts'
import { asking } from '../../kit/asking.ts'
import { reporterOf } from '../../kit/errors.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { answerCommand } from '../commands/dispatch.ts'
import type { OpenSocket, ThreadsContext } from '../context.ts'
import { subscriptionCommands } from './commands.ts'
import { isPython } from './subscription-request.ts'
import { createSubscriptions } from './subscriptions.ts'
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

/** The session of a web socket on a thread. It keeps no state until a host has opened the socket. */
export function createSession(context: ThreadsContext, call: FaceCall): SocketSession {
  const { maxBodyBytes } = context
  let writer: SocketWriter
  let conversation: ThreadSession
  return {
    protocol: chosenProtocol(call.request),
    maxMessageBytes: maxBodyBytes,
    open(peer) {
      writer = createSocketWriter(peer)
      conversation = openSession(context, call, writer)
      // It may be told to end immediately.
      context.sockets.add(conversation)
    },
    message(data) {
      if (data.length > maxBodyBytes) writer.end(1009, `A message has at most ${maxBodyBytes} bytes.`)
      else conversation.take(data)
    },
    drain: () => writer.drained(),
    close() {
      writer.onClosed()
      conversation.close()
    },
  }
}

interface ThreadSession extends OpenSocket {
  take(message: SocketMessage): void
  close(): void
}

/** Answers one message after the other, as fast as the answers are accepted. */
function openSession(context: ThreadsContext, call: FaceCall, writer: SocketWriter): ThreadSession {
  const { engine, maxBodyBytes } = context
  const waiting: SocketMessage[] = []
  let waitingLength = 0
  let answering = false
  let leaving = false
  let takesCloseForEnd = isPython(call.request.headers)
  let later: (() => void)[] = []
  let gathering: ReturnType<typeof setTimeout> | undefined
  let { principal } = call
  let checkedAt = Date.now()
  const expire = () => end(4401, 'The credentials have expired.')
  let forget = onExpiry(principal, expire)
  const report = reporterOf(context, call)

  const subscriptions = createSubscriptions(engine, call, writer, endBy, report)
  const commands = subscriptionCommands(engine, call, subscriptions, (start) => later.push(start))

  function leave(): void {
    leaving = true
    if (!answering && subscriptions.size === 0) endForRestart()
  }

  function end(code: number, reason: string): void {
    writer.end(code, reason)
    close()
  }

  function close(): void {
    context.sockets.delete(conversation)
    clearTimeout(gathering)
    forget()
    subscriptions.closeAll()
    waiting.length = 0
  }

  /**
   * Ends the socket so that clients reconnect. The Python client, recognized by a plain filter, treats 1001
   * as final.
   */
  function endForRestart(): void {
    end(takesCloseForEnd ? 1012 : 1001, 'This server is shutting down.')
  }

  /**
   * Ends the socket for a reason that ends its subscriptions. The code is 4000 plus the HTTP status if
   * clients should not reconnect.
   */
  function endBy(reason: unknown): void {
    if (!(reason instanceof RunError)) end(1011, 'The stream was interrupted.')
    else if (reason.code === 'closing') endForRestart()
    else end(4404, 'The thread no longer exists.')
  }

  /**
   * Whether the caller may still use the socket: a token may have been revoked since the handshake. Errors of
   * `authenticate` itself are thrown.
   */
  async function isStillCaller(): Promise<boolean> {
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
  }

  async function answer(message: SocketMessage): Promise<void> {
    if (!(await isStillCaller())) return end(4401, 'The credentials are no longer valid.')
    let value: unknown
    const json = async () => {
      value = read(message, maxBodyBytes)
      takesCloseForEnd ||= isFilter(value)
      return isFilter(value) ? { id: 0, method: 'subscription.subscribe', params: value } : value
    }
    const own = { ...call, principal }
    const { status, body } = await answerCommand(asking(context, own), { ...own, json }, commands)
    const work = internalsOf(engine).working(call.threadId)
    if (work) call.waitUntil(work)
    // Another server should start a run that this server no longer starts.
    if (status === 503 && !('type' in body)) return endForRestart()
    const isSilent = isFilter(value) && status === 200 && later.length > 0
    if (!isSilent) await writer.write(() => textFrame(JSON.stringify(body)))
  }

  function gather(): void {
    if (later.length > 0 && !writer.ended) gathering ??= setTimeout(begin, GATHER_MS)
  }

  /**
   * Starts the new subscriptions together, so that their events come in one order. Clients open several at
   * the same time, and stop reading if one of them reports the end of a run before the others have started.
   */
  function begin(): void {
    gathering = undefined
    // The answer to a subscription comes before its events. `gather` is called again after the answer.
    if (answering) return
    const starts = later
    later = []
    for (const start of starts) start()
  }

  async function answerAll(): Promise<void> {
    answering = true
    try {
      for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) {
        waitingLength -= message.length
        await answer(message)
      }
    } catch (error) {
      report(error)
      endBy(error)
    }
    answering = false
    gather()
    if (leaving) leave()
  }

  const conversation: ThreadSession = {
    take(message) {
      if (writer.ended) return
      waitingLength += message.length
      if (waiting.push(message) > MAX_WAITING || waitingLength > MAX_WAITING_LENGTH * maxBodyBytes) {
        end(1008, 'Too many messages are waiting for a response.')
      } else if (!answering) void answerAll()
    },
    leave,
    close,
  }
  return conversation
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
