import { describe, expect, test } from 'vitest'
import { AuditError, type ServerAudit, serverAudits } from '../../src/audit/index.ts'
import { createAgentServer, type WebHandler } from '../../src/index.ts'
import { audited, functions } from './audited/agents.ts'
import { answered, asked, commanded, type Fault, faulty, filtered, told, wrapped } from './audited/faults.ts'
import { inProcessSockets, type SocketFault } from './audited/sockets.ts'

const is = (
  event: { method: string; params: { namespace: unknown[]; data: { event?: string } } },
  method: string,
  word?: string,
) => event.method === method && (word === undefined || event.params.data.event === word)
const isEnding = (event: Parameters<typeof is>[0]) =>
  is(event, 'lifecycle') && event.params.namespace.length === 0 && event.params.data.event !== 'running'
const withData = (event: { params: object }, data: object) => ({
  ...event,
  params: { ...event.params, data },
})
const only = (rest: Parameters<typeof is>[0], drop: boolean) => (drop ? [] : [rest])
const COMMANDS = /^POST .*\/commands$/
const STATE = /^GET .*\/state$/
const RUN = JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id: 'echo' } })
const HISTORY = /^POST .*\/history$/

/** What a server may do wrong, and the rules that must notice. */
const faults: readonly (readonly [name: string, fault: Fault, ...rules: readonly string[]])[] = [
  ['an event is lost', told((event, at) => only(event, at === 3)), 'stream.seq.whole'],
  [
    'an event is lost in replays',
    told((event, at, reader) => only(event, at === 3 && reader > 0)),
    'replay.equals-live',
    'stream.subscribers',
  ],
  [
    'an event comes twice',
    told((event, at) => (at === 3 ? [event, event] : [event])),
    'stream.ids.unique',
    'stream.seq.rises',
    'stream.seq.whole',
  ],
  ['seq begins again in each run', told((event) => [{ ...event, seq: event.seq % 8 }]), 'stream.seq.rises'],
  [
    'seq is counted by each stream',
    told((event, at) => [{ ...event, seq: at + 1 }]),
    'replay.since',
    'replay.last-event-id',
  ],
  [
    'ids are made for each reader',
    told((event, _at, reader) => [{ ...event, event_id: `${event.event_id}-${reader}` }]),
    'replay.equals-live',
    'stream.subscribers',
    'stream.before-thread',
  ],
  [
    'ids are those of the channel',
    told((event) => [{ ...event, event_id: event.method }]),
    'stream.ids.unique',
  ],
  ['there are no ids', told(({ event_id: _, ...event }) => [event]), 'stream.envelope'],
  [
    'there is no namespace',
    told((event) => [{ ...event, params: { ...event.params, namespace: undefined } }]),
    'stream.envelope',
  ],
  ['frames have ids of their own', wrapped((frame) => frame.replace(/^id: .*$/m, 'id: x')), 'stream.frames'],
  ['there are no heartbeats', wrapped((frame) => (frame.startsWith(':') ? '' : frame)), 'stream.heartbeat'],
  [
    'a heartbeat ends with a blank line',
    wrapped((frame) => (frame.startsWith(':') ? `${frame}\n` : frame)),
    'stream.heartbeat',
  ],
  [
    'a stream ends with its run',
    wrapped((frame) =>
      frame.includes('"completed"') && frame.includes('"namespace":[]') ? undefined : frame,
    ),
    'stream.stays-open',
  ],
  [
    'a run ends twice',
    told((event) => (isEnding(event) ? [event, { ...event, event_id: `${event.event_id}-2` }] : [event])),
    'runs.one-ending',
  ],
  ['a run has no end', told((event) => only(event, isEnding(event))), 'runs.one-ending', 'runs.ending-last'],
  [
    'a run does not say that it runs',
    told((event) => only(event, is(event, 'lifecycle', 'running'))),
    'runs.one-ending',
    'runs.ending-last',
  ],
  [
    'a failure has no text',
    told((event) => (is(event, 'lifecycle', 'failed') ? [withData(event, { event: 'failed' })] : [event])),
    'runs.failed',
  ],
  [
    'a failure looks like an end',
    told((event) => (is(event, 'lifecycle', 'failed') ? [withData(event, { event: 'completed' })] : [event])),
    'runs.failed',
    'runs.failed.next',
  ],
  [
    'what was cancelled looks like a failure',
    told((event) =>
      is(event, 'lifecycle', 'interrupted')
        ? [withData(event, { event: 'failed', error: 'aborted' })]
        : [event],
    ),
    'cancel.ends',
    'interrupts.requested',
    'multitask.interrupt',
  ],
  [
    'an interrupt is asked twice',
    told((event) => (is(event, 'input.requested') ? [event, event] : [event])),
    'interrupts.requested',
  ],
  [
    'an interrupt has no payload',
    told((event) =>
      is(event, 'input.requested')
        ? [withData(event, { interrupt_id: event.params.data.interrupt_id })]
        : [event],
    ),
    'events.input',
  ],
  [
    'an interrupt has no value',
    told((event) =>
      is(event, 'input.requested') ? [withData(event, { ...event.params.data, value: undefined })] : [event],
    ),
    'interrupts.value',
  ],
  [
    'interrupts show as values',
    told((event) =>
      is(event, 'values') ? [withData(event, { ...event.params.data, __interrupt__: [] })] : [event],
    ),
    'interrupts.unmarked',
  ],
  [
    'a message has no end',
    told((event) => only(event, is(event, 'messages', 'message-finish'))),
    'messages.whole',
    'messages.whole.tools',
    'messages.whole.nested',
  ],
  [
    'a block has no end',
    told((event) => only(event, is(event, 'messages', 'content-block-finish'))),
    'messages.whole',
  ],
  [
    'a delta is lost',
    told((event) => only(event, is(event, 'messages', 'content-block-delta'))),
    'messages.text',
  ],
  [
    'streamed messages have ids of their own',
    told((event) =>
      is(event, 'messages', 'message-start')
        ? [withData(event, { ...event.params.data, id: `run-${event.params.data.id}` })]
        : [event],
    ),
    'messages.in-state',
  ],
  [
    'a message has no id',
    told((event) =>
      is(event, 'messages', 'message-start')
        ? [withData(event, { ...event.params.data, id: undefined })]
        : [event],
    ),
    'events.messages',
  ],
  [
    'the wire is camelCase',
    told((event) => [JSON.parse(JSON.stringify(event).replaceAll('"run_id"', '"runId"'))]),
    'events.snake-case',
  ],
  [
    'checkpoints come after their values',
    told((event) =>
      is(event, 'checkpoints')
        ? []
        : is(event, 'values')
          ? [event, { ...event, method: 'checkpoints' }]
          : [event],
    ),
    'events.values.follow-checkpoints',
  ],
  [
    'values are a list',
    told((event) => (is(event, 'values') ? [withData(event, [])] : [event])),
    'events.values',
    'events.values.final',
    'replay.values',
  ],
  [
    'a state of a run is unknown',
    told((event) => (is(event, 'lifecycle', 'running') ? [withData(event, { event: 'busy' })] : [event])),
    'events.lifecycle',
  ],
  [
    'updates are bare values',
    told((event) => (is(event, 'updates') ? [withData(event, { messages: [] })] : [event])),
    'events.updates',
  ],
  [
    'checkpoints have no step',
    told((event) => (is(event, 'checkpoints') ? [withData(event, { id: 'x', source: 'loop' })] : [event])),
    'events.checkpoints',
  ],
  [
    'tasks have no name',
    told((event) => (is(event, 'tasks') ? [withData(event, { id: 'x' })] : [event])),
    'events.tasks',
  ],
  [
    'custom events are bare payloads',
    told((event) => (is(event, 'custom') ? [withData(event, { done: 1 })] : [event])),
    'events.custom',
  ],
  [
    'a tool call has no name',
    told((event) =>
      is(event, 'tools', 'tool-started')
        ? [withData(event, { ...event.params.data, tool_name: undefined })]
        : [event],
    ),
    'events.tools',
  ],
  [
    'a tool call has no end',
    told((event) => only(event, is(event, 'tools', 'tool-finished'))),
    'tools.whole',
  ],
  [
    'a tool call has another id',
    told((event) =>
      is(event, 'tools') ? [withData(event, { ...event.params.data, tool_call_id: 'call' })] : [event],
    ),
    'tools.in-state',
  ],
  [
    'namespaces do not start',
    told((event) => only(event, is(event, 'lifecycle', 'started'))),
    'namespaces.lifecycle',
  ],

  ['since is ignored', filtered(({ since: _, ...filter }) => filter), 'replay.since', 'replay.since.live'],
  [
    'since is inclusive',
    filtered((filter) => (filter?.since > 0 ? { ...filter, since: filter.since - 1 } : filter)),
    'replay.since',
    'replay.since.live',
  ],
  [
    'Last-Event-ID is ignored',
    asked((_, request) => ({ headers: without(request.headers, 'last-event-id') })),
    'replay.last-event-id',
  ],
  [
    'an unknown event id is the newest',
    asked((body, { headers }) =>
      headers.get('last-event-id') === 'no-such-event'
        ? { body: { ...body, channels: ['custom:nothing'] } }
        : {},
    ),
    'replay.unknown-id',
  ],
  [
    'nothing is replayed',
    told((event, at, reader) => only(event, reader > 0 && at < 3)),
    'replay.equals-live',
    'replay.midway',
  ],
  [
    'all of the past is replayed',
    filtered((filter) => ({ since: 0, ...filter })),
    'replay.past-endings',
    'interrupts.replay',
  ],
  [
    'every channel is sent',
    filtered((filter) => (filter?.channels ? { ...filter, channels: ALL_CHANNELS } : filter)),
    'filter.channels',
    'filter.unknown',
  ],
  [
    'input.requested is its own channel',
    filtered((filter) => ({
      ...filter,
      channels: filter?.channels?.map?.((name: unknown) => (name === 'input' ? 'nothing' : name)),
    })),
    'filter.input',
  ],
  [
    'names of custom channels are ignored',
    filtered((filter) => ({
      ...filter,
      channels: filter?.channels?.map?.((name: unknown) => String(name).replace(/^custom:.*/, 'custom')),
    })),
    'filter.custom',
  ],
  [
    'namespaces are ignored',
    filtered(({ namespaces: _, ...filter }) => filter),
    'filter.namespaces',
    'filter.union',
    'filter.depth',
  ],
  ['depth is ignored', filtered(({ depth: _, ...filter }) => filter), 'filter.depth', 'filter.union'],
  [
    'any filter is taken',
    filtered((filter) => (Array.isArray(filter?.channels) ? filter : { channels: ['custom:nothing'] })),
    'filter.invalid',
  ],
  [
    'streams are plain text',
    (send) => async (request) => plain(await send(request)),
    'stream.path',
    'stream.path.events',
    'stream.headers',
  ],
  ['streams may be cached', (send) => async (request) => uncontrolled(await send(request)), 'stream.headers'],
  [
    'a stream needs its thread',
    (send) => async (request) => needsThread(send, request),
    'stream.before-thread',
    'stream.path',
  ],

  [
    'commands are answered with another id',
    answered(COMMANDS, (body) => ({ body: { ...body, id: 1 } })),
    'commands.id.echoed',
    'commands.id.text',
  ],
  [
    'run.start gives no run_id',
    answered(COMMANDS, (body) => ({ body: { ...body, result: {} } })),
    'commands.run-start.returns-run-id',
    'interrupts.respond.run-id',
  ],
  [
    'run.start gives no meta',
    answered(COMMANDS, ({ meta: _, ...body }) => ({ body })),
    'commands.meta.given',
  ],
  [
    'applied_through_seq is of the run',
    answered(COMMANDS, (body) => ({
      body: { ...body, meta: { ...body.meta, applied_through_seq: body.meta?.applied_through_seq + 1 } },
    })),
    'commands.meta.not-ahead',
  ],
  [
    'refusals have a status of their own',
    answered(COMMANDS, (body) => ({ status: body.type === 'error' ? 422 : 200 })),
    'commands.unknown',
    'commands.run-start.unknown-assistant',
    'interrupts.none',
    'interrupts.respond.unknown',
    'interrupts.respond.invalid',
    'interrupts.respond.twice',
    'multitask.reject',
    'commands.run-start.unknown-checkpoint',
    'commands.malformed',
    'commands.refused.no-thread',
  ],
  [
    'commands are accepted without an answer',
    answered(COMMANDS, () => ({ status: 204 })),
    'commands.run-start.returns-run-id',
  ],
  [
    'malformed commands are refused with 200',
    answered(COMMANDS, (body) => ({ status: 200, body: { ...body, id: 0 } })),
    'commands.malformed',
    'commands.malformed.envelope',
  ],
  [
    'broken bodies are errors of the server',
    answered(COMMANDS, (_, status) => ({ status: status === 400 ? 500 : status })),
    'requests.errors.quiet',
    'requests.deep',
  ],
  [
    'errors have a stack trace',
    answered(/./, (body, status) =>
      status === 400 ? { body: { ...body, stack: new Error('broken').stack } } : {},
    ),
    'requests.errors.quiet',
  ],
  ['every command makes a thread', madeByAny, 'commands.refused.no-thread'],
  [
    'a run starts late',
    answered(STATE, (body, status) =>
      status === 200 && body.next?.length > 0 ? { body: { ...body, values: null } } : {},
    ),
    'commands.run-start.state-at-once',
  ],
  [
    'state commands are unknown',
    answered(COMMANDS, (body, _, sent) =>
      /^(state|agent)\./.test(sent?.method)
        ? { body: { type: 'error', id: sent.id, error: 'unknown_command', message: '' } }
        : { body },
    ),
    'commands.state-get',
    'commands.list-checkpoints',
    'commands.get-tree',
    'commands.fork',
  ],
  [
    'an interrupt is found by its namespace',
    commanded('input.respond', (params) => (params?.namespace?.length > 0 ? {} : params)),
    'interrupts.respond.namespace',
  ],
  [
    'keys of state.get are ignored',
    commanded('state.get', ({ keys: _, ...params }) => params),
    'commands.state-get.parts',
  ],
  [
    'every namespace is the root',
    commanded('state.get', (params) => ({ ...params, namespace: [] })),
    'commands.state-get.parts',
  ],
  [
    'an injected message is another',
    commanded('input.inject', (params) => ({ ...params, message: { role: 'user', content: '' } })),
    'commands.inject',
  ],
  [
    'commands about no thread are unknown',
    answered(COMMANDS, (body) => ({
      body: body.error === 'no_such_run' ? { ...body, error: 'unknown_command' } : body,
    })),
    'commands.no-thread',
    'interrupts.none',
  ],
  [
    'camelCase is not read',
    commanded('run.start', ({ assistantId: _, ...params }) => params),
    'commands.camel-case',
  ],
  [
    'a thread changes its assistant',
    answered(COMMANDS, (body, _, sent) => ({
      body:
        sent?.params?.assistant_id === 'tools'
          ? { type: 'success', id: sent.id, result: { run_id: 'x' } }
          : body,
    })),
    'commands.run-start.bound',
  ],
  [
    'a fork begins at the newest checkpoint',
    commanded('run.start', ({ config: _, ...params }) => params),
    'runs.fork',
    'commands.run-start.unknown-checkpoint',
  ],
  [
    'a new input is asked about anew',
    commanded('run.start', (params) => (params.input === 'yes' ? { ...params, input: null } : params)),
    'interrupts.run-start',
  ],
  [
    'lists of answers are unknown',
    commanded('input.respond', ({ responses: _, ...params }) => params),
    'interrupts.respond.list',
  ],
  [
    'any interrupt is answered',
    answered(COMMANDS, (body, _, sent) =>
      sent?.method === 'input.respond'
        ? { body: { type: 'success', id: sent.id, result: {}, meta: {} } }
        : { body },
    ),
    'interrupts.respond.unknown',
    'interrupts.respond.invalid',
    'interrupts.respond.twice',
    'interrupts.none',
  ],
  [
    'strategies are ignored',
    commanded('run.start', ({ multitaskStrategy: _, ...params }) => params),
    'multitask.reject',
    'multitask.interrupt',
    'multitask.rollback',
  ],
  [
    'rollback only interrupts',
    commanded('run.start', (params) =>
      params.multitaskStrategy === 'rollback' ? { ...params, multitaskStrategy: 'interrupt' } : params,
    ),
    'multitask.rollback',
  ],
  [
    'a new run always interrupts',
    commanded('run.start', (params) => ({ ...params, multitaskStrategy: 'interrupt' })),
    'multitask.enqueue',
    'multitask.default',
  ],
  [
    'cancel does nothing',
    (send) => async (request) =>
      /\/cancel$/.test(new URL(request.url).pathname) ? new Response(null, { status: 204 }) : send(request),
    'cancel.ends',
    'cancel.unknown',
    'cancel.wait',
    'multitask.cancel-queued',
  ],
  ['cancel fails', answered(/\/cancel$/, () => ({ status: 500 })), 'cancel.ends', 'cancel.ended'],
  [
    'messages get new ids',
    commanded('run.start', (params) => ({
      ...params,
      input: { messages: [{ type: 'human', content: 'Hello', id: crypto.randomUUID() }] },
    })),
    'runs.message-ids-kept',
  ],
  [
    'messages of the state are envelopes',
    answered(STATE, (body, status) =>
      status === 200
        ? {
            body: {
              ...body,
              values: { messages: body.values.messages?.map((data: object) => ({ lc: 1, kwargs: data })) },
            },
          }
        : {},
    ),
    'messages.flat',
    'messages.in-state',
    'events.values.final',
  ],

  [
    'a missing thread has an empty state',
    answered(STATE, (body, status) =>
      status === 404 ? { status: 200, body: { values: {}, next: [], tasks: [] } } : { body },
    ),
    'state.missing',
    'state.bootstrap',
    'commands.refused.no-thread',
    'requests.deep',
    'requests.large',
    'requests.ids',
    'threads.delete',
  ],
  [
    'a missing thread is an error of the server',
    answered(STATE, (_, status) => ({ status: status === 404 ? 500 : status })),
    'state.missing',
    'state.bootstrap',
  ],
  [
    'an idle thread has something next',
    answered(STATE, (body) => ({ body: { ...body, next: ['model'] } })),
    'state.idle',
  ],
  [
    'an idle thread has tasks',
    answered(STATE, (body) => ({ body: { ...body, tasks: [{ id: 'x' }] } })),
    'state.idle',
  ],
  [
    'the state lists no interrupts',
    answered(STATE, (body) => ({ body: { ...body, tasks: [] } })),
    'interrupts.state',
  ],
  [
    'the state keeps interrupts',
    answered(STATE, (body) => ({ body: { ...body, tasks: [{ interrupts: [{ id: 'x' }] }] } })),
    'interrupts.respond',
  ],
  [
    'a state has no checkpoint',
    answered(STATE, ({ checkpoint: _, ...body }) => ({ body })),
    'state.shape',
    'commands.state-get',
    'history.newest-first',
    'state.written',
  ],
  [
    'a state cannot be written',
    answered(/^POST .*\/state$/, () => ({ status: 422 })),
    'state.bootstrap',
    'state.written',
    'state.busy',
  ],
  [
    'the state at a checkpoint is the newest',
    asked((_, { url }) => ({ url: url.replace(/\/state\/[^/]+$/, '/state') })),
    'state.at-checkpoint',
  ],
  [
    'the history is oldest first',
    answered(HISTORY, (body) => ({ body: Array.isArray(body) ? body.reverse() : body })),
    'history.newest-first',
  ],
  [
    'limit and before are ignored',
    asked((body, { url }) => (url.endsWith('/history') ? { body: { metadata: body?.metadata } } : {})),
    'history.pages',
  ],
  [
    'metadata of the history is ignored',
    asked((body, { url }) => (url.endsWith('/history') ? { body: { ...body, metadata: undefined } } : {})),
    'history.metadata',
  ],
  [
    'a missing history is empty',
    answered(HISTORY, (_, status) => (status === 404 ? { status: 200, body: [] } : {})),
    'history.missing',
  ],

  [
    'a thread is made again and again',
    asked((body, { url }) =>
      url.endsWith('/threads') ? { body: { ...body, if_exists: 'do_nothing' } } : {},
    ),
    'threads.create',
  ],
  [
    'every thread is idle',
    answered(/^GET .*\/threads\/[^/]+$/, (body) => ({ body: { ...body, status: 'idle' } })),
    'threads.status',
  ],
  [
    'records have no times',
    answered(/^GET .*\/threads\/[^/]+$/, ({ updated_at: _, ...body }) => ({ body })),
    'threads.get',
  ],
  [
    'metadata is replaced',
    asked((_, { method }) => (method === 'PATCH' ? { body: { metadata: { changed: 2, kept: 0 } } } : {})),
    'threads.patch',
  ],
  [
    'search ignores pages',
    asked((body, { url }) => (url.endsWith('/search') ? { body: { metadata: body.metadata } } : {})),
    'threads.search',
  ],
  [
    'threads are listed oldest first',
    answered(/^GET .*\/threads$/, (body) => ({ body: body.reverse() })),
    'threads.list',
  ],
  [
    'delete does nothing',
    (send) => async (request) =>
      request.method === 'DELETE' ? new Response(null, { status: 204 }) : send(request),
    'threads.delete',
  ],
  ['ids are decoded twice', asked((_, { url }) => ({ url: decodedTwice(url) })), 'requests.ids'],
  ['ids are not decoded', asked((_, { url }) => ({ url: url.replaceAll('%', '%25') })), 'requests.ids'],
  [
    'deep bodies are taken',
    (send) => async (request) => {
      const deep = (await request.clone().text()).includes('[[[[')
      return send(deep ? new Request(request, { body: RUN }) : request)
    },
    'requests.deep',
  ],
  [
    'large bodies are taken',
    asked((body) =>
      body?.params?.input?.length > 1_000
        ? { body: { id: 1, method: 'run.start', params: { assistant_id: 'echo' } } }
        : {},
    ),
    'requests.large',
  ],
  [
    'the origin of a page is not looked at',
    asked((_, { headers }) => ({ headers: without(headers, 'origin') })),
    'requests.other-origin',
  ],
]

const ALL_CHANNELS = [
  'values',
  'updates',
  'messages',
  'tools',
  'lifecycle',
  'input',
  'checkpoints',
  'tasks',
  'custom',
]

function without(headers: Headers, name: string): Headers {
  const rest = new Headers(headers)
  rest.delete(name)
  return rest
}

const isEvents = (response: Response) => response.headers.get('content-type')?.startsWith('text/event-stream')

const plain = (response: Response) =>
  isEvents(response) ? new Response(response.body, { headers: { 'content-type': 'text/plain' } }) : response

const uncontrolled = (response: Response) =>
  isEvents(response)
    ? new Response(response.body, { headers: { 'content-type': 'text/event-stream' } })
    : response

async function needsThread(
  send: (request: Request) => Promise<Response>,
  request: Request,
): Promise<Response> {
  const { pathname, origin } = new URL(request.url)
  if (!pathname.endsWith('/stream')) return send(request)
  const { status } = await send(new Request(origin + pathname.replace(/\/stream$/, '/state')))
  return status === 404 ? Response.json({}, { status }) : send(request)
}

function madeByAny(send: (request: Request) => Promise<Response>): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname, origin } = new URL(request.url)
    if (pathname.endsWith('/commands')) {
      const body = JSON.stringify({ thread_id: pathname.split('/')[2], if_exists: 'do_nothing' })
      await send(new Request(`${origin}/threads`, { method: 'POST', body }))
    }
    return send(request)
  }
}

function decodedTwice(url: string): string {
  const [, id] = /\/threads\/([^/]+)/.exec(url) ?? []
  if (id === undefined) return url
  try {
    return url.replace(id, encodeURIComponent(decodeURIComponent(decodeURIComponent(id))))
  } catch {
    return url
  }
}

const isEvent = ({ type }: { type: string }) => type === 'event'
const isNone = ({ type, id }: { type: string; id: unknown }) => type === 'error' && id === null
const subscribed = (change: (params: Record<string, unknown>) => object) => (message: WireCommand) =>
  message.method === 'subscription.subscribe' ? { ...message, params: change(message.params) } : message

interface WireCommand {
  readonly method?: string
  readonly params: Record<string, unknown>
}

/** What a server may do wrong with web sockets, and the rules that must notice. */
const socketFaults: readonly (readonly [name: string, fault: SocketFault, ...rules: readonly string[]])[] = [
  [
    'web sockets have another path',
    { url: (url) => `${url}/socket` },
    'sockets.path',
    'sockets.path.events',
    'sockets.unauthenticated',
  ],
  [
    'an event of a web socket is lost',
    { received: () => (message, at) => only(message, isEvent(message) && at === 3) },
    'sockets.commands',
    'sockets.before-thread',
    'sockets.replay',
    'sockets.replay.midway',
    'sockets.since',
    'sockets.filter-alone',
    'sockets.reconnect',
  ],
  [
    'an event of a web socket comes twice',
    { received: () => (message) => (isEvent(message) ? [message, message] : [message]) },
    'sockets.commands',
    'sockets.once',
    'sockets.apart',
  ],
  [
    'a subscription is answered after its first event',
    {
      received() {
        let answer: unknown[] = []
        return (message, at) => {
          if (at === 0) answer = [message]
          return at === 0 ? [] : [message, ...answer.splice(0)]
        }
      },
    },
    'sockets.answer-first',
  ],
  [
    'since of a subscription is ignored',
    { sent: (message) => subscribed(({ since: _, ...params }) => params)(message) },
    'sockets.since',
  ],
  [
    'a filter alone is answered',
    {
      sent: (message) =>
        message.channels ? { id: 1, method: 'subscription.subscribe', params: message } : message,
    },
    'sockets.filter-alone',
  ],
  [
    'a subscription does not end',
    {
      sent: (message) =>
        message.method === 'subscription.unsubscribe'
          ? { ...message, method: 'agent.getTree', params: {} }
          : message,
    },
    'sockets.unsubscribe',
    'sockets.unsubscribe.unknown',
  ],
  [
    'a reconnect goes on from the beginning',
    {
      sent: (message) =>
        message.method === 'subscription.reconnect'
          ? { ...message, params: { ...message.params, last_event_id: undefined } }
          : message,
    },
    'sockets.reconnect',
  ],
  [
    'what is no command is answered with an id',
    { received: () => (message) => [isNone(message) ? { ...message, id: 0 } : message] },
    'sockets.malformed',
  ],
  [
    'an unknown command is a bad one',
    {
      received: () => (message) => [
        message.error === 'unknown_command' ? { ...message, error: 'invalid_argument' } : message,
      ],
    },
    'sockets.unknown-command',
  ],
  ['the end of a web socket ends those of others', { together: true }, 'sockets.apart'],
]

interface Faults {
  readonly fault?: Fault
  readonly socketFault?: SocketFault
}

function auditsOf(
  server: WebHandler,
  { fault = (send) => send, socketFault }: Faults,
): ReadonlyMap<string, ServerAudit> {
  const audits = serverAudits({
    baseUrl: 'http://in-process.example',
    fetch: faulty(server, fault),
    webSocketFactory: inProcessSockets(server, socketFault),
    headers: { authorization: 'Bearer key' },
    ...audited,
    timeoutMs: 6_000,
  })
  return new Map(audits.map((audit) => [audit.rule, audit]))
}

describe.concurrent('a server with a fault', { timeout: 240_000 }, () => {
  const cases: readonly (Faults & { readonly name: string; readonly rules: readonly string[] })[] = [
    ...faults.map(([name, fault, ...rules]) => ({ name, fault, rules })),
    ...socketFaults.map(([name, socketFault, ...rules]) => ({ name, socketFault, rules })),
    { name: 'everybody is let in', rules: ['sockets.unauthenticated'] },
  ]
  test.for(cases)('$name', async ({ rules, ...fault }, { onTestFinished }) => {
    const server = createAgentServer({ agents: functions, onError() {} })
    onTestFinished(() => server.close())
    const audits = auditsOf(server, fault)
    const outcomes = await Promise.all(
      rules.map((rule) =>
        audits
          .get(rule)!
          .fn()
          .then(
            () => `${rule} holds`,
            (error) => (error instanceof AuditError ? rule : String(error)),
          ),
      ),
    )
    expect(outcomes).toEqual(rules)
  })
})

test('every rule notices a fault', () => {
  const noticed = [...faults, ...socketFaults].flatMap(([, , ...rules]) => rules)
  const rules = serverAudits({ baseUrl: 'http://in-process.example' }).map(({ rule }) => rule)
  expect(rules.filter((rule) => !noticed.includes(rule))).toEqual([])
})
