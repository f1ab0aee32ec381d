import { Annotation, START, StateGraph } from '@langchain/langgraph'
import { expect, test, vi } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import {
  type Agent,
  type Checkpointer,
  createAgentServer,
  defineAgent,
  memoryCheckpointer,
  memoryStore,
  type OwnEngineOptions,
  type Store,
} from '../../src/index.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import { Notes, threeSteps } from '../fixtures/graphs.ts'
import { dataOf, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom } from '../kit/puppet.ts'

const SECRET = 'postgres://app:secret@db/prod'
const leak = (): never => {
  throw new Error(`connection to ${SECRET} refused`)
}
const showText = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const agentOf = (stream: Agent['stream']): Agent => ({
  resumable: false,
  stream,
  getState: async () => undefined,
  async *getHistory() {},
  updateState: async () => ({ checkpointId: 'none' }),
})

/** A saver some of whose methods fail, once `after` calls of them went well. */
function failingSaver(methods: readonly (keyof Checkpointer)[], after = 0): Checkpointer {
  const inner = memoryCheckpointer()
  let calls = 0
  return new Proxy(inner, {
    get: (saver, key) => {
      const member: unknown = Reflect.get(saver, key)
      if (!methods.includes(key as keyof Checkpointer)) {
        return typeof member === 'function' ? member.bind(saver) : member
      }
      return async (...args: unknown[]) =>
        calls++ < after ? (member as (...args: unknown[]) => unknown).apply(saver, args) : leak()
    },
  })
}

/** A store whose appends of agent events fail. */
function failingStore(error: Error): Store {
  const inner = memoryStore()
  return {
    ...inner,
    async commit(partition, change) {
      const appended = change.ops.flatMap((op) => (op.op === 'append' ? op.events : []))
      if (appended.some(({ topic }) => topic.includes('custom'))) throw error
      return inner.commit(partition, change)
    },
  }
}

/** An agent that catches what its saver throws, and throws it on in its own words. */
const rewording = agentOf(async function* ({ checkpointer, threadId }) {
  yield custom(1)
  try {
    // The first answer is what was read before the run.
    for (let times = 0; times < 2; times++)
      await checkpointer.getTuple({ configurable: { thread_id: threadId } })
  } catch (error) {
    throw `My state: ${(error as Error).message}`
  }
})

const nested = () => {
  const inner = new StateGraph(Notes).addNode('inner', leak).addEdge(START, 'inner').compile()
  return new StateGraph(Notes).addNode('outer', inner).addEdge(START, 'outer').compile()
}

const failsInTool = defineAgent({
  async run({ tool }) {
    await tool('look', {}, leak)
  },
})

type Place = { readonly agent: Agent } & Partial<OwnEngineOptions>

const ofAgent: Readonly<Record<string, () => Place>> = {
  'an agent that throws before its first event': () => ({ agent: agentOf(leak) }),
  'an agent that throws between events': () => ({
    agent: agentOf(async function* () {
      yield custom(1)
      leak()
    }),
  }),
  'an agent that throws text': () => ({
    agent: agentOf(async function* () {
      yield custom(1)
      throw SECRET
    }),
  }),
  'a function': () => ({ agent: defineAgent({ run: leak }) }),
  'a node of a graph': () => ({ agent: langgraph(threeSteps((name) => void (name === 'two' && leak()))) }),
  'a node of a subgraph': () => ({ agent: langgraph(nested()) }),
}

const ofStorage: Readonly<Record<string, () => Place>> = {
  'a saver that cannot write a checkpoint': () => ({
    agent: langgraph(threeSteps(() => {})),
    checkpointer: failingSaver(['put'], 1),
  }),
  'a saver that cannot write what a task wrote': () => ({
    agent: langgraph(threeSteps(() => {})),
    checkpointer: failingSaver(['putWrites']),
  }),
  'a saver that cannot write the state of a function': () => ({
    agent: defineAgent({ run: async ({ message }) => void (await message('Hi.')) }),
    checkpointer: failingSaver(['put']),
  }),
  'a saver whose error the agent throws on in its own words': () => ({
    agent: rewording,
    checkpointer: failingSaver(['getTuple'], 1),
  }),
  'a store that cannot append events': () => ({
    agent: agentOf(async function* () {
      yield custom(1)
      yield custom(2)
    }),
    store: failingStore(new Error(SECRET)),
  }),
  'a store that is away': () => ({
    agent: agentOf(async function* () {
      yield custom(1)
    }),
    store: failingStore(new UnavailableError(SECRET, { written: 'no' })),
  }),
}

const INPUT = { notes: ['in'], messages: [{ type: 'human', content: 'go', id: 'h' }] }

/** Runs an agent to its failure, and gives all that a client can see of it. */
async function failureOf({ agent, ...options }: Place) {
  const told: unknown[] = []
  const host = await serveAgents({
    agents: { a: agent },
    errorMessage: undefined,
    ...options,
    observe: (event) => void (event.type === 'run.ended' && told.push(event.error)),
  })
  const thread = host.thread()
  await thread.start(INPUT)
  const events = await thread.transcript()
  const seen = [events]
  for (const path of ['', '/state', '/state?subgraphs=true', '/history']) {
    // State that the saver cannot read is answered 500, which this test does not look at.
    seen.push((await thread.get(path)).body as never)
  }
  host.errors.length = 0
  return { events, seen: JSON.stringify(seen), told }
}

for (const [name, place] of Object.entries({ ...ofAgent, ...ofStorage })) {
  test(`no client sees the text of an error of ${name}, and the operator sees it`, async () => {
    const { events, seen, told } = await failureOf(place())
    expect(rootStates(events)).toEqual(['running', 'failed'])
    expect(seen).not.toContain('secret@')
    expect(dataOf(events, 'lifecycle').at(-1)!.error).toMatch(/^The run failed\. Error id: [0-9a-f-]{36}\.$/)
    expect(told).toHaveLength(1)
    expect(String(told)).toContain('secret@')
  })
}

for (const [name, place] of Object.entries(ofStorage)) {
  test(`errorMessage does not show the text of an error of ${name}`, async () => {
    const { events, seen } = await failureOf({ ...place(), errorMessage: showText })
    expect(rootStates(events)).toEqual(['running', 'failed'])
    expect(seen).not.toContain('secret@')
  })
}

for (const [name, place] of Object.entries(ofAgent)) {
  test(`errorMessage shows the text of an error of ${name}`, async () => {
    const { events } = await failureOf({ ...place(), errorMessage: showText })
    expect(dataOf(events, 'lifecycle').at(-1)!.error).toContain(SECRET)
  })
}

for (const [name, reporters] of Object.entries({
  observe: { observe: leak },
  onError: { onError: leak },
})) {
  test(`no client sees what an ${name} throws, and the run goes on to its end`, async () => {
    const server = createAgentServer({
      agents: { a: defineAgent({ run: leak }) },
      onError: () => {},
      ...reporters,
    })
    const run = await server.engine.start({ threadId: 't', input: INPUT })
    expect(await server.engine.wait({ threadId: 't', ...run })).toMatchObject({ status: 'error' })
    const thread = await server.fetch(new Request('http://test/threads/t'))
    expect(thread.status).toBe(200)
    expect(await thread.text()).not.toContain('secret@')
    await server.close()
  })
}

test('the event of a tool that fails does not show why', async () => {
  const { events } = await failureOf({ agent: failsInTool })
  const [failed] = dataOf(events, 'tools').filter(({ event }) => event === 'tool-error')
  expect(failed!.message).not.toContain('secret@')
})

for (const [environment, shown] of [
  ['development', true],
  ['production', false],
  ['', false],
] as const) {
  test(`without errorMessage the text is ${shown ? 'shown' : 'hidden'} where NODE_ENV is “${environment}”`, async () => {
    vi.stubEnv('NODE_ENV', environment)
    const told = vi.spyOn(console, 'info').mockImplementation(() => {})
    try {
      const place = ofAgent['a node of a graph']!
      expect((await failureOf(place())).seen.includes('secret@')).toBe(shown)
      expect((await failureOf({ ...place(), errorMessage: !shown })).seen.includes('secret@')).toBe(!shown)
      expect(told.mock.calls.map(([line]) => line)).toEqual(
        shown ? [expect.stringMatching(/clients see the text .* NODE_ENV/)] : [],
      )
    } finally {
      vi.unstubAllEnvs()
      told.mockRestore()
    }
  })
}

for (const [how, errorMessage] of Object.entries({
  throws: leak,
  'gives no text': () => undefined as unknown as string,
})) {
  test(`an errorMessage that ${how} is as none`, async () => {
    const { events, seen } = await failureOf({ agent: defineAgent({ run: leak }), errorMessage })
    expect(seen).not.toContain('secret@')
    expect(dataOf(events, 'lifecycle').at(-1)!.error).toMatch(/^The run failed\. Error id: /)
  })
}

test('onError gets every failure of a run, with the id that the client is told', async () => {
  const kaput = new Error('kaput')
  const told: unknown[] = []
  const server = createAgentServer({
    agents: {
      a: defineAgent({
        run: () => {
          throw kaput
        },
      }),
    },
    onError: (error, info) => told.push([error, info]),
  })
  const run = await server.engine.start({ threadId: 't', input: INPUT })
  const { error } = await server.engine.wait({ threadId: 't', ...run })
  const id = /Error id: (.*)\.$/.exec(error!)![1]
  expect(told).toEqual([[kaput, { id, threadId: 't', runId: run.runId }]])
  await server.close()
})

const plain = () => defineAgent({ run: async ({ message }) => void (await message('Hi.')) })
const schemaOf = (validate: () => never) => ({
  '~standard': { version: 1 as const, vendor: 'test', validate },
})
const withReducer = () =>
  langgraph(
    new StateGraph(Annotation.Root({ notes: Annotation<string[]>({ reducer: leak, default: () => [] }) }))
      .addNode('one', () => ({}))
      .addEdge(START, 'one')
      .compile(),
  )
function storeOf(method: 'get' | 'commit'): Store {
  return { ...memoryStore(), [method]: async () => leak() }
}

const ofRequests: Readonly<Record<string, () => Place>> = {
  authenticate: () => ({ agent: plain(), authenticate: leak }),
  authorize: () => ({ agent: plain(), authorize: leak }),
  'the schema of the input': () => ({
    agent: defineAgent({ input: schemaOf(leak) as never, run: () => {} }),
  }),
  'the context of a graph': () => ({
    agent: langgraph(
      threeSteps(() => {}),
      { context: leak },
    ),
  }),
  'a reducer': () => ({ agent: withReducer() }),
  'a store that cannot be read': () => ({ agent: plain(), store: storeOf('get') }),
  'a store that cannot be written': () => ({ agent: plain(), store: storeOf('commit') }),
  'a saver that cannot read': () => ({
    agent: withReducer(),
    checkpointer: failingSaver(['getTuple', 'list']),
  }),
  'a saver that cannot write': () => ({
    agent: langgraph(threeSteps(() => {})),
    checkpointer: failingSaver(['put', 'putWrites']),
  }),
}

/** Every kind of request, and all that is answered. */
async function answersOf({ agent, ...options }: Place) {
  const told: unknown[] = []
  const server = createAgentServer({
    agents: { a: agent },
    ...options,
    onError: (error) => void told.push(error),
  })
  const ask = async (method: string, path: string, body?: unknown) => {
    const request = new Request(`http://test${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const response = await server.fetch(request)
    return `${method} ${path} ${response.status} ${await response.text()}`
  }
  const command = (method: string, params: unknown) =>
    ask('POST', '/threads/t/commands', { id: 1, method, params })
  const answers = [
    await command('run.start', { assistant_id: 'a', input: INPUT }),
    await ask('GET', '/threads/t/runs'),
    await ask('POST', '/threads/u/state', { values: { notes: ['x'] }, as_node: 'one' }),
    await command('state.update', { values: { notes: ['x'] } }),
    await ask('POST', '/threads', { thread_id: 'v' }),
    await ask('GET', '/threads'),
    await ask('POST', '/threads/search', {}),
    await ask('GET', '/threads/t'),
    await ask('GET', '/threads/t/state'),
    await ask('POST', '/threads/t/history', {}),
    await command('input.respond', { interrupt_id: 'i', namespace: [], response: 1 }),
    await ask('DELETE', '/threads/t'),
  ]
  await server.close()
  return { answers, told }
}

for (const [name, place] of Object.entries(ofRequests)) {
  test(`no answer shows the text of an error of ${name}, and the operator sees it`, async () => {
    const { answers, told } = await answersOf(place())
    expect(answers.filter((answer) => answer.includes('secret@'))).toEqual([])
    expect(told.map(String).join()).toContain('secret@')
  })
}

test('errorMessage decides what is told of a reducer that refuses a write, and not what is told of the storage', async () => {
  const shown = await answersOf({ agent: withReducer(), errorMessage: showText })
  expect(shown.answers.find((answer) => answer.startsWith('POST /threads/u/state'))).toContain(SECRET)
  const hidden = await answersOf({ ...ofRequests['a saver that cannot write']!(), errorMessage: showText })
  expect(hidden.answers.filter((answer) => answer.includes('secret@'))).toEqual([])
})
