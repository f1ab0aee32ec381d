import { randomUUID } from 'node:crypto'
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { agUi } from '../../src/faces/ag-ui/index.ts'
import { aiSdk } from '../../src/faces/ai-sdk/index.ts'
import { createFace, type FaceSetup, lookAtThread, route } from '../../src/faces/kit/index.ts'
import { mcp } from '../../src/faces/mcp/index.ts'
import { idOf } from '../../src/faces/openai/ids.ts'
import { openAi } from '../../src/faces/openai/index.ts'
import { type Authorize, createAgentServer, defineAgent } from '../../src/index.ts'
import { type Answer, request } from '../kit/client.ts'
import { serveAgents } from '../kit/host.ts'

/** How often the agent that only the boss may run has run. */
let runs = 0

const State = Annotation.Root({ ...MessagesAnnotation.spec })
const secret = new StateGraph(State)
  .addNode('work', ({ messages }) => {
    runs += 1
    if (String(messages.at(-1)?.content).includes('ask'))
      interrupt({ action_requests: [{ name: 'pay', args: {} }], review_configs: [] })
    return { messages: [{ role: 'assistant', content: 'the secret' }] }
  })
  .addEdge(START, 'work')
  .compile()

const open = defineAgent({ run: async ({ message }) => void (await message('hello')) })

const authorize: Authorize = (principal, action, { assistantId }) =>
  action !== 'runs:create' || principal?.id === 'boss' || assistantId !== 'secret'

/** Two users of one tenant: what the boss has made is there for the other, but not to be run. */
async function company(policy: Authorize = authorize) {
  const { origin } = await serveAgents({
    agents: { secret: langgraph(secret), open },
    aliases: { hidden: 'secret' },
    defaultAgent: 'secret',
    authenticate: ({ headers }) => {
      const id = headers.get('authorization')?.replace('Bearer ', '')
      return id === undefined ? null : { id, tenant: 'acme' }
    },
    authorize: policy,
    devtools: true,
    faces: [aiSdk(), agUi(), openAi(), mcp()],
  })
  const as = (user: string) => (method: string, path: string, body?: unknown) =>
    request(origin, method, path, body, {
      authorization: `Bearer ${user}`,
      accept: 'application/json, text/event-stream',
    })
  const boss = as('boss')
  const run = async (threadId: string, text: string) => {
    const input = { messages: [{ role: 'user', content: text, id: `m-${text}` }] }
    const { body } = await boss('POST', `/threads/${threadId}/runs`, {
      assistant_id: 'secret',
      input,
      if_not_exists: 'create',
    })
    await boss('GET', `/threads/${threadId}/runs/${body.run_id}/join`)
    return body.run_id as string
  }
  const [done, asks] = [randomUUID(), randomUUID()]
  const doneRun = await run(done, 'do')
  const asksRun = await run(asks, 'ask')
  const state = (await boss('GET', `/threads/${asks}/state`)).body
  const checkpoint = (await boss('GET', `/threads/${done}/state`)).body.checkpoint.checkpoint_id as string
  const own = (await boss('POST', '/assistants', { graph_id: 'secret', name: 'mine' })).body
  const system = (await boss('POST', '/assistants/search', { graph_id: 'secret' })).body.find(
    ({ metadata }: { metadata: { created_by?: string } }) => metadata.created_by === 'system',
  )
  const interruptId = state.tasks[0].interrupts[0].id as string
  return { origin, as, done, doneRun, asks, asksRun, checkpoint, interruptId, own, system }
}

type Company = Awaited<ReturnType<typeof company>>
type Way = readonly [name: string, method: string, path: string, body: (of: Company) => unknown]

const NAMES: Readonly<Record<string, (of: Company) => string>> = {
  'its name': () => 'secret',
  'an alias': () => 'hidden',
  'the default': () => '_',
  'the UUID of the graph': ({ system }) => system.assistant_id,
  'the UUID of an assistant': ({ own }) => own.assistant_id,
}
const input = { messages: [{ role: 'user', content: 'do' }] }
const named = (name: string, way: (assistantId: string) => readonly [string, string, unknown]): Way => {
  const [method, path] = way('')
  return [`${method} ${path} by ${name}`, method, path, (of) => way(NAMES[name]!(of))[2]]
}
/** A cron names its assistant. */
const CRON_NAMES = Object.keys(NAMES).filter((name) => name !== 'the default')
const everyName = (way: (assistantId: string) => readonly [string, string, unknown]): readonly Way[] =>
  Object.keys(NAMES).map((name) => named(name, way))
const command = (method: string, params: object) => ({ id: 1, method, params })
const ui = (id: string, more: object = {}) => ({
  id,
  trigger: 'submit-message',
  messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'do' }] }],
  ...more,
})
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const agUiInput = (threadId: string, more: object = {}) => ({
  threadId,
  runId: randomUUID(),
  messages: [{ id: randomUUID(), role: 'user', content: 'do' }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
  ...more,
})

const WAYS: readonly Way[] = [
  ...[
    '/runs',
    '/runs/wait',
    '/runs/stream',
    '/threads/:done/runs',
    '/threads/:done/runs/wait',
    '/threads/:done/runs/stream',
  ].flatMap((path) => everyName((assistant_id) => ['POST', path, { assistant_id, input }])),
  ...everyName((assistant_id) => [
    'POST',
    '/runs/batch',
    [
      { assistant_id: 'open', input },
      { assistant_id, input },
    ],
  ]),
  ...CRON_NAMES.map((name) =>
    named(name, (assistant_id) => ['POST', '/runs/crons', { assistant_id, schedule: '* * * * *', input }]),
  ),
  ...CRON_NAMES.map((name) =>
    named(name, (assistant_id) => [
      'POST',
      '/threads/:done/runs/crons',
      { assistant_id, schedule: '* * * * *', input },
    ]),
  ),
  ['REST answer', 'POST', '/threads/:asks/runs', () => ({ assistant_id: '_', command: { resume: 'yes' } })],
  ...everyName((assistant_id) => [
    'POST',
    '/threads/new/commands',
    command('run.start', { assistant_id, input }),
  ]),
  ['run.start by default', 'POST', '/threads/new/commands', () => command('run.start', { input })],
  ['run.start by thread', 'POST', '/threads/:done/commands', () => command('run.start', { input })],
  [
    'input.respond',
    'POST',
    '/threads/:asks/commands',
    (of) => command('input.respond', { interrupt_id: of.interruptId, response: 'yes', namespace: [] }),
  ],
  [
    'state.fork',
    'POST',
    '/threads/:done/commands',
    (of) => command('state.fork', { checkpoint_id: of.checkpoint, input }),
  ],
  ...everyName((assistantId) => ['POST', '/api/chat', ui(randomUUID(), { assistantId })]),
  ['/api/chat by default', 'POST', '/api/chat', () => ui(randomUUID())],
  ['/api/chat by thread', 'POST', '/api/chat', (of) => ui(of.done)],
  [
    '/api/chat regenerates',
    'POST',
    '/api/chat',
    (of) => ({
      id: of.done,
      trigger: 'regenerate-message',
      messages: [{ id: 'm-do', role: 'user', parts: [{ type: 'text', text: 'do' }] }],
    }),
  ],
  [
    '/api/chat answers',
    'POST',
    '/api/chat',
    (of) => ({
      id: of.asks,
      trigger: 'submit-message',
      messages: [{ id: 'reply', role: 'assistant', parts: [] }],
      resume: { [of.interruptId]: 'yes' },
    }),
  ],
  ...['its name', 'an alias', 'the UUID of the graph', 'the UUID of an assistant'].flatMap((name) => [
    named(name, (model) => ['POST', '/v1/responses', { model, input: 'do' }]),
    named(name, (model) => ['POST', '/v1/chat/completions', { model, messages: input.messages }]),
    named(name, (model) => [
      'POST',
      '/a2a/:name',
      rpc('message/send', {
        message: {
          kind: 'message',
          role: 'user',
          messageId: randomUUID(),
          parts: [{ kind: 'text', text: 'do' }],
        },
        model,
      }),
    ]),
  ]),
  [
    '/v1/responses answers under another model',
    'POST',
    '/v1/responses',
    (of) => ({
      model: 'open',
      input: [
        {
          type: 'mcp_approval_response',
          approval_request_id: idOf('mcpr', of.asks, of.interruptId, '0'),
          approve: true,
        },
      ],
    }),
  ],
  ['/ag-ui', 'POST', '/ag-ui/secret', () => agUiInput(randomUUID())],
  ['/ag-ui by thread', 'POST', '/ag-ui/secret', (of) => agUiInput(of.done)],
  [
    '/ag-ui answers',
    'POST',
    '/ag-ui/secret',
    (of) =>
      agUiInput(of.asks, {
        messages: [],
        resume: [{ interruptId: of.interruptId, status: 'resolved', payload: 'yes' }],
      }),
  ],
  ['an MCP tool', 'POST', '/mcp', () => rpc('tools/call', { name: 'secret', arguments: { message: 'do' } })],
  [
    'an MCP answer',
    'POST',
    '/mcp',
    (of) =>
      rpc('tools/call', {
        name: 'answer_question',
        arguments: { threadId: of.asks, questionId: of.interruptId, answer: 'yes' },
      }),
  ],
  ...['its name', 'an alias'].map((name) =>
    named(name, (assistant_id) => ['POST', '/devtools/api/threads/new/runs', { assistant_id, input }]),
  ),
  ['devtools by default', 'POST', '/devtools/api/threads/new/runs', () => ({ input })],
  ['devtools by thread', 'POST', '/devtools/api/threads/:done/runs', () => ({ input })],
  [
    'devtools answer',
    'POST',
    '/devtools/api/threads/:asks/answers',
    (of) => ({ answers: { [of.interruptId]: 'yes' } }),
  ],
  [
    'devtools fork',
    'POST',
    '/devtools/api/threads/:done/forks',
    (of) => ({ checkpoint_id: of.checkpoint, input }),
  ],
]

const CLIENT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const REFUSED = /not permitted|permission_denied|forbidden|there is no tool|not open/i

describe('whoever may not run an agent runs it in no way', () => {
  let of: Company
  beforeEach(async () => {
    of = await company()
  })
  const fill = (path: string, body: unknown) =>
    path
      .replace(':done', of.done)
      .replace(':asks', of.asks)
      .replace(':name', () => encodeURIComponent((body as { params: { model: string } }).params.model))
      .replace('/new/', `/${randomUUID()}/`)

  test('over HTTP', async () => {
    const before = runs
    const passed: unknown[] = []
    for (const [name, method, path, make] of WAYS) {
      const body = make(of)
      const answer = await fetch(of.origin + fill(path, body), {
        method,
        headers: { ...CLIENT, authorization: 'Bearer mallory' },
        body: JSON.stringify(body),
      })
      const text = await answer.text()
      const told = answer.status === 403 || REFUSED.test(text)
      if (!told) passed.push([name, answer.status, text.slice(0, 200)])
      if (runs !== before) passed.push([name, 'has run'])
      runs = before
    }
    expect(passed).toEqual([])
    expect(WAYS.length).toBeGreaterThan(44)
  })

  test('over a socket, of which each command is asked about', async () => {
    const before = runs
    const socket = new WebSocket(`${of.origin.replace('http', 'ws')}/threads/${of.done}/stream/events`, [
      'bearer.mallory',
    ])
    const answers: Answer[] = []
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('open', () => socket.send(JSON.stringify(command('run.start', { input }))))
      socket.on('message', (data) => {
        answers.push(JSON.parse(String(data)))
        if (answers.length === 1)
          socket.send(JSON.stringify(command('state.fork', { checkpoint_id: of.checkpoint, input })))
        else resolve()
      })
    })
    socket.close()
    expect(answers).toMatchObject([{ error: 'permission_denied' }, { error: 'permission_denied' }])
    expect(runs).toBe(before)
  })
})

test('no run of a batch starts if one is refused, and each is asked about as it is named', async () => {
  const asked: unknown[] = []
  const { as, system, own } = await company((principal, action, resource, sent) => {
    if (principal?.id === 'mallory' && action === 'runs:create') asked.push(resource.assistantId)
    return authorize(principal, action, resource, sent)
  })
  for (const assistant_id of [system.assistant_id, own.assistant_id]) {
    asked.length = 0
    const { status } = await as('mallory')('POST', '/runs/batch', [
      { assistant_id: 'open' },
      { assistant_id },
    ])
    expect(status).toBe(403)
    expect(asked).toContain('open')
    expect(asked).toContain('secret')
  }
  const { body } = await as('mallory')('POST', '/threads/search', {})
  expect(body).toHaveLength(2)
})

test('the settings of an assistant are asked about by its UUID, through every door', async () => {
  const asked: unknown[] = []
  const { as, own } = await company((_, action, { assistantId }) => {
    if (action === 'runs:create') asked.push(assistantId)
    return true
  })
  const ways: readonly (readonly [string, unknown])[] = [
    ['/runs/wait', { assistant_id: own.assistant_id, input }],
    [`/threads/${randomUUID()}/commands`, command('run.start', { assistant_id: own.assistant_id, input })],
    ['/api/chat', ui(randomUUID(), { assistantId: own.assistant_id })],
    ['/v1/responses', { model: own.assistant_id, input: 'do' }],
    [`/ag-ui/${own.assistant_id}`, agUiInput(randomUUID())],
    [
      `/a2a/${own.assistant_id}`,
      rpc('message/send', {
        message: { kind: 'message', role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'do' }] },
      }),
    ],
  ]
  for (const [path, body] of ways) {
    asked.length = 0
    const { status } = await as('ann')('POST', path, body)
    expect([path, status, [...new Set(asked)].sort()]).toEqual([
      path,
      200,
      [own.assistant_id, 'secret'].sort(),
    ])
  }
})

test('what a face gets before a call starts no runs, and what its rows get asks', async () => {
  let ofSetup: FaceSetup['engine'] | undefined
  const ways = ['start', 'respond', 'run', 'follow', 'follow to respond'] as const
  const door = (setup: FaceSetup) => {
    ofSetup = setup.engine
    // @ts-expect-error: it has no call that could be asked about.
    setup.engine.start
    // @ts-expect-error: it only follows answers that were started.
    const _: Parameters<typeof setup.engine.follow>[0] = { threadId: 't', start: {} }
    return createFace(setup, {
      basePath: '/door',
      routes: ways.map((way) =>
        route('POST', `/${way.replaceAll(' ', '-')}`, {
          permission: null,
          async run({ engine }, { principal }) {
            const on = { threadId: randomUUID(), principal, assistantId: 'secret' }
            if (way === 'run') await engine.run({ ...on, input: 'do' })
            else if (way === 'start') await engine.start({ ...on, input })
            else if (way === 'respond') await engine.respond({ ...on, answers: { q: 1 } })
            else if (way === 'follow') await engine.follow({ ...on, start: { assistantId: 'secret', input } })
            else await engine.follow({ ...on, respond: { assistantId: 'secret', answers: { q: 1 } } })
            return new Response('has run')
          },
        }),
      ),
    })
  }
  const { fetch, close } = createAgentServer({
    agents: { secret: langgraph(secret) },
    authenticate: () => ({ id: 'mallory' }),
    authorize,
    faces: [door],
  })
  const before = runs
  for (const way of ways) {
    const { status } = await fetch(
      new Request(`http://127.0.0.1/door/${way.replaceAll(' ', '-')}`, { method: 'POST' }),
    )
    expect([way, status]).toEqual([way, 403])
  }
  expect(runs).toBe(before)
  expect(ofSetup).toBeDefined()
  await close()
})

test('a filter of the permission holds for a run that a route starts with more access', async () => {
  const door = (setup: FaceSetup) =>
    createFace(setup, {
      routes: ['seen', 'unseen'].map((way) =>
        route('POST', `/${way}/:thread_id`, {
          permission: 'runs:create',
          async run({ engine }, { principal, threadId }) {
            const all = { threadId, principal: { id: 'ann' } }
            const looked = await lookAtThread(engine, way === 'seen' ? all : { threadId, principal })
            await engine.start({ threadId, principal: all.principal, input, looked })
            return new Response('has run')
          },
        }),
      ),
    })
  const { engine, fetch, close } = createAgentServer({
    agents: { open },
    authenticate: () => ({ id: 'ann' }),
    authorize: () => ({ filter: { team: 'a' } }),
    faces: [door],
  })
  const statuses: unknown[] = []
  for (const team of ['a', 'b'])
    for (const way of ['seen', 'unseen']) {
      const threadId = randomUUID()
      await engine.createThread({ threadId, principal: { id: 'ann' }, metadata: { team } })
      const { status } = await fetch(new Request(`http://127.0.0.1/${way}/${threadId}`, { method: 'POST' }))
      statuses.push([team, way, status])
    }
  expect(statuses).toEqual([
    ['a', 'seen', 200],
    ['a', 'unseen', 200],
    ['b', 'seen', 404],
    ['b', 'unseen', 404],
  ])
  await close()
})
