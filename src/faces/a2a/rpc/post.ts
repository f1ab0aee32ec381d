import { empty, json, originOf, reportError, SSE_HEADERS } from '../../../core/http/index.ts'
import { internalsOf } from '../../../engine/index.ts'
import { filterFields, isRecord } from '../../../messages/record.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { extensionsOf } from '../card/card.ts'
import { methodOf, versionOf } from '../dialects/choose.ts'
import type { Operation, Readers } from '../dialects/dialect.ts'
import { writeList } from '../dialects/v1.ts'
import { A2AError, failureOf, isHttpOnly } from '../errors.ts'
import type { HistoryScope, StreamEntry } from '../model.ts'
import type { A2ACall, Operations } from '../operations/operations.ts'
import { type A2AContext, HISTORY_SCOPE_HEADER } from '../options.ts'
import { frameOf, rpcStream } from './stream.ts'

/** The status that proxies log for a client that disconnected. */
const CLIENT_LEFT = 499

/**
 * `POST /a2a/:assistant_id`: one JSON-RPC request of either dialect. A rejected request is HTTP 200 with an
 * error, except 413 for a body that is too large, 503 for an error that a client should retry, and plain HTTP
 * for 401, 403 and 404. Every A2A method has a response, so a request without an id is invalid, and not a
 * JSON-RPC notification.
 */
export const postRpc =
  (operations: Operations) =>
  async (context: A2AContext, call: FaceCall): Promise<Response> => {
    const response = await answer(operations, context, call)
    for (const [name, uris] of activeExtensions(context, call)) response.headers.set(name, uris)
    return response
  }

async function answer(operations: Operations, context: A2AContext, call: FaceCall): Promise<Response> {
  const { request, params: path } = call
  const version = versionOf(call)
  let id: RpcId = null
  let isEventError = false

  const report = (error: unknown) => reportError(error, context.onError, originOf(request, path))
  const failed = (error: unknown) => failureOf(error, report)
  const failureText = (error: unknown) => JSON.stringify({ jsonrpc: '2.0', id, error: failed(error).error })

  try {
    const body = await call.json()
    id = idOf(body)
    const { hasId, method, params, metadata } = readEnvelope(body)
    // An unknown method and invalid params are told first, as by the official test suite.
    const own = hasId ? operations : withoutId(operations)
    const [dialect, operation] = methodOf(method, version)
    requireExtensions(context, call)
    const asked = (permitted: FaceCall): A2ACall => ({
      context,
      call: permitted,
      assistantId: path.assistant_id ?? '',
      dialect,
      metadata,
      historyScope: historyScopeOf(call),
      lastEventId: request.headers.get('last-event-id') ?? undefined,
    })
    if (!isStreamed(operation)) {
      const result = await ANSWERS[operation](own, asked(call), await dialect.readers(), params)
      return json({ jsonrpc: '2.0', id, result })
    }
    isEventError = dialect.version === '0.3' && version === undefined && wantsEvents(request)
    return await rpcStream({
      call,
      dialect,
      id: JSON.stringify(id),
      open: async (streamed) => STREAMS[operation](own, asked(streamed), await dialect.readers(), params),
      failed: failureText,
    })
  } catch (error) {
    if (isHttpOnly(error)) throw error
    // The client disconnected, which is not a failure, and the response is not read.
    if (call.signal?.aborted && error === call.signal.reason) return empty(CLIENT_LEFT)
    const { status, headers, code, error: failure } = failed(error)
    internalsOf(context.engine).observe({
      type: 'request.refused',
      method: request.method,
      route: call.route,
      status,
      code,
      at: Date.now(),
    })
    const refused = { jsonrpc: '2.0', id, error: failure }
    if (!isEventError || status !== 200) return json(refused, { status, headers })
    return new Response(frameOf(JSON.stringify(refused)), { headers: SSE_HEADERS })
  }
}

/** Operations that do nothing, for a request without an id. */
const withoutId = (operations: Operations): Operations =>
  Object.fromEntries(Object.keys(operations).map((name) => [name, refuse])) as unknown as Operations

async function refuse(): Promise<never> {
  throw invalidId()
}

/** v0.3 clients, which send no version header, only read the error of a stream if it is an event. */
const wantsEvents = ({ headers }: Request): boolean =>
  headers.get('accept')?.includes('text/event-stream') ?? false

/** The headers of requests and responses that list extensions: in v1.0, and in v0.3. */
const HEADERS = ['a2a-extensions', 'x-a2a-extensions']

/** The extensions that a request lists in a header. */
const namedIn = ({ headers }: Request, header: string): readonly string[] =>
  (headers.get(header)?.split(',') ?? []).map((uri) => uri.trim())

/**
 * The response headers with the requested extensions that this server supports, in the header that the
 * request used.
 */
function activeExtensions(
  { card }: A2AContext,
  { request }: FaceCall,
): readonly (readonly [header: string, uris: string])[] {
  const known = new Set(extensionsOf(card).map(({ uri }) => uri))
  return HEADERS.flatMap((header) => {
    const active = [...new Set(namedIn(request, header))].filter((uri) => known.has(uri))
    return active.length > 0 ? [[header, active.join(', ')] as const] : []
  })
}

/**
 * Throws `extension_support_required` if the client does not support an extension that the agent requires.
 */
function requireExtensions({ card }: A2AContext, { request }: FaceCall): void {
  const required = card.extensions?.filter(({ required }) => required) ?? []
  const named = required.length > 0 ? HEADERS.flatMap((header) => namedIn(request, header)) : []
  const missing = required.find(({ uri }) => !named.includes(uri))
  if (missing)
    throw new A2AError(
      'extension_support_required',
      `Support ${missing.uri} and name it in A2A-Extensions.`,
      {
        extension: missing.uri,
      },
    )
}

/**
 * Whether a task's history contains its own messages or all of its context, from the header of LangGraph's
 * server.
 */
const historyScopeOf = ({ request }: FaceCall): HistoryScope =>
  request.headers.get(HISTORY_SCOPE_HEADER) === 'context' ? 'context' : 'task'

/** What a row calls: the operations, and the readers of params in the call's dialect. */
type Row<Result> = (to: Operations, call: A2ACall, read: Readers, params: unknown) => Result

type Streamed = 'stream' | 'subscribe'

const STREAMS: Readonly<Record<Streamed, Row<AsyncIterable<readonly StreamEntry[]>>>> = {
  stream: (to, call, read, params) => to.stream(call, read.readSend(params)),
  subscribe: (to, call, read, params) => to.subscribe(call, read.readTask(params)),
}

const isStreamed = (operation: Operation): operation is Streamed => Object.hasOwn(STREAMS, operation)

/** Parses the params, calls the operation, and returns the result in the dialect's format. */
const ANSWERS: Readonly<Record<Exclude<Operation, Streamed>, Row<Promise<unknown>>>> = {
  send: async (to, call, read, params) => call.dialect.writeSent(await to.send(call, read.readSend(params))),
  getTask: async (to, call, read, params) =>
    call.dialect.writeTask(await to.getTask(call, read.readTask(params))),
  // Only v1.0 has it.
  listTasks: async (to, call, _, params) =>
    writeList(await to.listTasks(call, (await import('../dialects/v1-read.ts')).readList(params))),
  cancelTask: async (to, call, read, params) =>
    call.dialect.writeTask(await to.cancelTask(call, read.readTask(params))),
  setPush: async (to, call, read, params) =>
    call.dialect.writePush(await to.setPush(call, read.readSetPush(params))),
  getPush: async (to, call, read, params) =>
    call.dialect.writePush(await to.getPush(call, read.readPush(params, 'getPush'))),
  listPush: async (to, call, read, params) =>
    call.dialect.writePushList(await to.listPush(call, read.readPush(params, 'listPush'))),
  deletePush: async (to, call, read, params) => {
    await to.deletePush(call, read.readPush(params, 'deletePush'))
    return null
  },
  extendedCard: (to, call) => to.extendedCard(call),
}

/** JSON-RPC 2.0 §4: the id that a response repeats. */
type RpcId = string | number | null

/** Limited because every item of a stream repeats the id. */
const MAX_ID_LENGTH = 1_024

/**
 * The id of a request. Ids that cannot be repeated exactly are invalid: numbers with a fraction, and numbers
 * too large for a double.
 */
function idOf(body: unknown): RpcId {
  return isRecord(body) && isRpcId(body.id) ? body.id : null
}

const isRpcId = (id: unknown): id is RpcId =>
  id === null || Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= MAX_ID_LENGTH)

/** Other members are ignored. Throws `parse_error` for an empty body, and `invalid_request`. */
function readEnvelope(body: unknown) {
  if (body === undefined) throw new A2AError('parse_error', 'The body is empty. Send a JSON-RPC 2.0 request.')
  if (Array.isArray(body)) throw invalid('Batches are not supported. Send each request on its own.')
  if (!isRecord(body)) throw invalid('Expected a JSON-RPC 2.0 request, which is an object.')
  const { jsonrpc, id, method, params, metadata } = body
  if (jsonrpc !== '2.0') throw invalid('jsonrpc: expected "2.0".')
  if (id !== undefined && !isRpcId(id)) throw invalidId()
  if (typeof method !== 'string' || method === '')
    throw invalid('method: expected a string that is not empty.')
  return {
    hasId: id !== undefined,
    method,
    params,
    // LangGraph's clients send `thread_id` here.
    metadata: isRecord(metadata) ? filterFields(metadata, (key) => key !== '__proto__') : undefined,
  }
}

/** The error of a request whose id is missing or cannot be repeated. */
const invalidId = (): A2AError =>
  invalid(
    `id: expected a string of at most ${MAX_ID_LENGTH} characters, a whole number, or null. Every A2A method has a response.`,
  )

const invalid = (message: string): A2AError => new A2AError('invalid_request', message)
