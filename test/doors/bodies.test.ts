import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createControlPlaneHandler } from '../../src/control-plane/index.ts'
import { createAgentServer } from '../../src/index.ts'
import { createDevtoolsGroup } from '../../src/ops/devtools/group.ts'
import { scriptedDeployer } from '../control-plane/support/scripted-deployer.ts'
import { GITHUB } from '../control-plane/support/served.ts'
import { chat } from '../fixtures/graphs.ts'
import { counted } from '../kit/calls.ts'
import { PLACES } from '../kit/databases.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import type { Json } from '../kit/events.ts'
import type { Place } from '../kit/shared.ts'
import { turnsDuring } from '../kit/turns.ts'
import { eventually, turns } from '../kit/wait.ts'
import { type Body, type Known, legalBodies } from './bodies/legal.ts'
import { faces } from './faces.ts'

/** The default limit of a body, and a part of it that takes little time to send to every route. */
const LARGEST = 4 * 1024 * 1024
const LARGE = LARGEST / 16
/**
 * The longest turn of the event loop that the largest body may cause, in milliseconds of processor time: a second on a quiet machine.
 * Beside other work the same takes several times as long, and quadratic work takes minutes.
 */
const MAX_TURN = 5_000
/** A body that takes longer than this in its part is sent once more as large as it can be. */
const SUSPECT = MAX_TURN / 16
const MAX_CALLS = 50

/**
 * More calls, for what a body names to be written, or looked at, one after the other. The number of items is
 * limited, and others get their turn in between.
 */
const CALLS_FOR_ITEMS: Readonly<Record<string, number>> = {
  // Four for each of 200 threads that are deleted.
  'POST /threads/prune': 800,
  // Three for each of 1,000 steps of a history.
  'POST /threads': 3_000,
  // About twenty for each of 100 runs.
  'POST /runs/batch': 2_000,
  // One for each state that is answered, or that a search by values looks at.
  'POST /threads/search': 1_000,
  'POST /threads/count': 1_000,
}

/** What a route takes, as far as its schema does not say it. */
const EXAMPLES: Readonly<Record<string, Json>> = {
  'POST /threads/{thread_id}/stream': { channels: ['values'] },
  'POST /threads/{thread_id}/stream/events': { channels: ['values'] },
  'POST /runs/crons': { assistant_id: 'agent', schedule: '0 0 29 2 *' },
  'POST /threads/{thread_id}/runs/crons': { assistant_id: 'agent', schedule: '0 0 29 2 *' },
  'PUT /store/items': { namespace: ['a'], key: 'k' },
  'POST /a2a/{assistant_id}': {
    id: 1,
    method: 'message/send',
    params: {
      message: { kind: 'message', role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'x' }] },
    },
  },
  'POST /mcp': { id: 1, method: 'tools/call', params: { name: 'agent', arguments: {} } },
  'POST /chat': { messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }] },
  'POST /ag-ui/{agent_id}': {
    messages: [{ id: 'm', role: 'user', content: 'x' }],
    tools: [],
    state: {},
    context: [],
    forwardedProps: {},
  },
  'POST /v1/responses': { input: 'x' },
  'POST /v2/deployments': { ...GITHUB, name: undefined },
}

/** Bodies that are sent each time: those that once took seconds, or a call for each item. */
const ALWAYS =
  /^[^:.]*: as many as it takes|^(params\.)?(config\.)?metadata: keys|^params\.input: (empty|wide|many m)|^body: 100 with input: many calls$|^context: many keys$/

interface Route {
  readonly name: string
  readonly method: string
  /** With `{names}` of its parameters. */
  readonly path: string
  readonly bodies: readonly Body[]
}

async function rig(place: Place) {
  const { storage, calls, reset } = counted(place)
  const { errors, reporters } = unexpectedErrors()
  const authenticate = () => ({ id: 'ann' })
  const { onError } = reporters
  const controlPlane = createControlPlaneHandler({
    ...{ deployer: scriptedDeployer(), worker: false, authenticate, store: storage.store, onError },
    secrets: { key: Buffer.alloc(32, 7).toString('base64') },
  })
  const agents = { agent: langgraph(chat()) }
  const server = createAgentServer({
    ...{ agents, faces, controlPlane, devtools: true, authenticate, ...storage, ...reporters },
  })
  onTestFinished(() => server.close())

  async function send(method: string, path: string, body: string | undefined) {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const request = new Request(`http://127.0.0.1${path}`, { method, headers, ...(body && { body }) })
    const response = await server.fetch(request)
    const isEndless = ENDLESS.test(path) && response.ok
    if (isEndless) await response.body?.cancel()
    return { status: response.status, text: isEndless ? '' : await response.text() }
  }
  const asked = async (method: string, path: string, body?: object): Promise<Json> => {
    const { status, text } = await send(method, path, body && JSON.stringify(body))
    expect(status, `${path} ${text}`).toBeLessThan(300)
    return JSON.parse(text)
  }

  const made = { deployment: (await asked('POST', '/v2/deployments', GITHUB)).id, thread: '', names: 0 }
  const threads: string[] = []
  const newThread = async (): Promise<string> => (await asked('POST', '/threads', {})).thread_id
  while (threads.length < 200) threads.push(await newThread())

  /** Names of what there is. Of lists of ids, some are unknown. */
  const known: Known = (field) => {
    if (/^(assistant_?id|graph_id|model|agent_?id)$/i.test(field)) return () => 'agent'
    if (/^thread_?id$/i.test(field)) return () => made.thread
    if (/^(ids|thread_ids)$/.test(field)) return (at) => threads[at] ?? `unknown-${at}`
    if (field === 'name') return () => `name${made.names++}`
    return /(_id|Id)$/.test(field) && !/^(interrupt|checkpoint)/.test(field) ? () => randomUUID() : undefined
  }
  async function parameterOf(parameter: string): Promise<string> {
    if (parameter === 'thread_id') return made.thread
    if (parameter === 'deployment_id') return made.deployment
    if (parameter === 'conversation_id') return (await asked('POST', '/v1/conversations', {})).id
    if (parameter === 'cron_id')
      return (await asked('POST', '/runs/crons', EXAMPLES['POST /runs/crons'])).cron_id
    return known(parameter)?.(0) ?? randomUUID()
  }

  const api = await asked('GET', '/openapi.json')
  const described = Object.entries<Json>(api.paths).flatMap(([path, item]) =>
    ['post', 'put', 'patch'].flatMap((method) =>
      item[method]
        ? [{ method, path, schema: item[method].requestBody?.content['application/json'].schema }]
        : [],
    ),
  )
  // The routes of the devtools are not part of the document.
  const devtools = await createDevtoolsGroup({ engine: server.engine }).routes()
  const others = devtools.map(([method, pattern]) => ({
    method,
    path: pattern.replace(/:(\w+)/g, '{$1}'),
    schema: {},
  }))
  const routes = [...described, ...others.filter(({ method }) => method === 'POST')].map(
    ({ method, path, schema = {} }): Route => {
      const name = `${method.toUpperCase()} ${path}`
      const bodies = legalBodies(api, schema, EXAMPLES[name], known)
      return { name, method: method.toUpperCase(), path, bodies }
    },
  )

  /** Settles when what an answer has left to do is done. */
  async function rest(): Promise<void> {
    for (let seen = -1; seen !== calls.made.length; ) {
      await eventually(async () => (await server.engine.measure()).running === 0)
      seen = calls.made.length
      await turns(3)
    }
  }

  /** What a body costs: the longest turn of the event loop, and the calls of the storage. */
  async function costOf({ path, method, name }: Route, { make, name: shape }: Body, size: number) {
    made.thread = await newThread()
    let url = (api.paths[path]?.servers?.[0]?.url ?? '/').replace(/\/$/, '') + path
    if (name === 'PATCH /threads/{thread_id}/state')
      await asked('POST', `/threads/${made.thread}/state`, { values: { messages: [] } })
    for (const [whole, parameter] of path.matchAll(/\{(\w+)\}/g))
      url = url.replace(whole, await parameterOf(parameter!))
    const text = JSON.stringify(make(size))
    await rest()
    reset()
    const { result, longest } = await turnsDuring(async () => {
      const answer = await send(method, url, text)
      await rest()
      return answer
    })
    const { status, text: answer } = result
    const most = MAX_CALLS + (CALLS_FOR_ITEMS[name] ?? 0)
    // Those of measurements are told apart only where all are too many.
    const own =
      calls.made.length > most ? calls.from().filter((from) => !from.includes('measure')) : calls.made
    return {
      name,
      shape,
      length: text.length,
      longest: Math.round(longest),
      calls: own.length,
      isCostly: own.length > most,
      status,
      answer,
    }
  }

  return { routes, costOf, errors }
}

/** Streams that wait for events that do not come. */
const ENDLESS = /^\/threads\/[^/]+\/stream|\/connect$/

interface Sent {
  readonly route: Route
  readonly body: Body
}

/**
 * All bodies with `BODIES=all`. Otherwise those of `ALWAYS` over the first storage, and one of each route, a new one each time, over the
 * others. `npm test` takes a third of the former, which are sent over Postgres, too.
 */
function chosen(routes: readonly Route[], isFirst: boolean): readonly Sent[] {
  const all = routes.flatMap((route) => route.bodies.map((body) => ({ route, body })))
  if (process.env.BODIES === 'all') return all
  if (!isFirst) return routes.map((route) => ({ route, body: sampleOf(fc.constantFrom(...route.bodies)) }))
  const known = all.filter(({ body }) => ALWAYS.test(body.name))
  if (process.env.STORAGES !== 'local') return known
  const length = Math.ceil(known.length / 3)
  return sampleOf(fc.shuffledSubarray(known, { minLength: length, maxLength: length }))
}

const sampleOf = <T>(values: fc.Arbitrary<T>): T => fc.sample(values, 1)[0]!

test.each(PLACES)(
  'no body of any route holds the event loop, or makes many calls: $name',
  { timeout: 3_600_000 },
  async (place) => {
    const { routes, costOf, errors } = await rig(await place.open())
    const sent = chosen(routes, place === PLACES[0])
    const taken: Sent[] = []
    const wrong: object[] = []
    for (const one of sent) {
      let cost = await costOf(one.route, one.body, LARGE)
      // The largest that is not refused for its length.
      if (cost.longest > SUSPECT)
        for (let size = LARGEST * 0.95; size === LARGEST * 0.95 || cost.status === 413; size /= 2)
          cost = await costOf(one.route, one.body, size)
      if (cost.status < 400) taken.push(one)
      if (cost.longest > MAX_TURN || cost.isCostly || cost.status >= 500)
        wrong.push({ ...cost, answer: cost.answer.slice(0, 200) })
    }
    expect(wrong).toEqual([])
    expect(errors).toEqual([])
    expect(routes.length).toBeGreaterThan(80)
    expect(sent.length).toBeGreaterThan(30)
    expect(taken.length).toBeGreaterThan(sent.length / 3)
  },
)
