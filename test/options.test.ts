import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { afterAll, describe, expect, test } from 'vitest'
import { toExpress } from '../adapters/express.ts'
import { toFastify } from '../adapters/fastify.ts'
import { toNext } from '../adapters/next.ts'
import { acceptSockets, serve, toNode } from '../adapters/node.ts'
import { langgraph } from '../src/agents/langgraph/langgraph.ts'
import { checkpointerAudits, graphStoreAudits, serverAudits, storeAudits } from '../src/audit/index.ts'
import { verifyJwt } from '../src/control-plane/api/authentication/jwt.ts'
import { tokenVault } from '../src/control-plane/auth/oauth.ts'
import { commandDeployer } from '../src/control-plane/deployers/command/command.ts'
import { kubernetesDeployer } from '../src/control-plane/deployers/kubernetes/kubernetes.ts'
import { processDeployer } from '../src/control-plane/deployers/process/process.ts'
import { apiKeys, createControlPlaneHandler } from '../src/control-plane/index.ts'
import { signCards } from '../src/faces/a2a/card/signature.ts'
import { a2aAgent, createA2AHandler } from '../src/faces/a2a/index.ts'
import { createPlatformHandler } from '../src/faces/rest/index.ts'
import {
  AgentwireError,
  createAgentEngine,
  createAgentServer,
  createThreadsHandler,
  defineAgent,
  memoryCheckpointer,
  memoryStore,
} from '../src/index.ts'
import { observeModelStream, startLlmRun } from '../src/models/tracing/index.ts'
import { langsmithSink } from '../src/models/tracing/sinks/langsmith.ts'
import { openTelemetrySink } from '../src/models/tracing/sinks/opentelemetry.ts'
import { expressThreadMetadata } from '../src/models/tracing/thread/middleware.ts'
import { createDevtoolsHandler } from '../src/ops/devtools/index.ts'
import { openTelemetry } from '../src/ops/opentelemetry/opentelemetry.ts'
import { openStorage } from '../src/storage/open.ts'
import { postgresStorage } from '../src/storage/postgres/postgres.ts'
import { redisStorage } from '../src/storage/redis/redis.ts'
import { sqliteStorage } from '../src/storage/sqlite/sqlite.ts'

const agents = { agent: defineAgent({ run() {} }) }
const engine = createAgentEngine({ agents })
afterAll(() => engine.close())
const server = createAgentServer({ engine })
const graph = new StateGraph(MessagesAnnotation)
  .addNode('one', () => ({}))
  .addEdge('__start__', 'one')
  .compile()

// Callers without types, or with a mistake that types do not see.
// biome-ignore lint/suspicious/noExplicitAny: what is checked is what types forbid
type Untyped = any
const untyped = (value: unknown): Untyped => value

/** The error of what users write, which must come at once. */
function refusal(make: () => unknown): string {
  try {
    make()
  } catch (error) {
    expect(error).toBeInstanceOf(AgentwireError)
    return (error as AgentwireError).message
  }
  return 'taken'
}

describe('a misspelt option is named with the one that was meant', () => {
  test.each<[string, (options: Untyped) => unknown, object, string]>([
    [
      'createAgentServer',
      createAgentServer,
      { agents, authentcate: () => null },
      'authentcate. Did you mean authenticate?',
    ],
    [
      'createAgentServer',
      createAgentServer,
      { agents, http: { maxbody: 1 } },
      'http.maxbody. Did you mean http.maxBodyBytes?',
    ],
    [
      'createAgentServer',
      createAgentServer,
      { agents, platform: { webhook: {} } },
      'platform.webhook. Did you mean platform.webhooks?',
    ],
    [
      'createAgentServer',
      createAgentServer,
      { agents, http: { cors: { origin: '*' } } },
      'http.cors.origin. Did you mean http.cors.origins?',
    ],
    [
      'createAgentServer',
      createAgentServer,
      { agents, http: { disable_A2A: true } },
      'http.disable_A2A. Did you mean http.disable_a2a?',
    ],
    ['createAgentServer', createAgentServer, { agents, a2a: { card: { skils: [] } } }, 'a2a.card.skils.'],
    [
      'createAgentServer',
      createAgentServer,
      { engine, limits: { run: 1 } },
      'limits.run. Did you mean limits.runs?',
    ],
    [
      'createAgentServer',
      createAgentServer,
      { agents, devtools: { isOperater: () => true } },
      'devtools.isOperater. Did you mean devtools.isOperator?',
    ],
    ['createAgentEngine', createAgentEngine, { agents, http: {} }, 'http.'],
    [
      'createAgentEngine: graphStore',
      (graphStore) => createAgentEngine({ agents, graphStore }),
      { embedd: () => [] },
      'embedd. Did you mean embed?',
    ],
    [
      'createThreadsHandler',
      createThreadsHandler,
      { agents, authorise: () => true },
      'authorise. Did you mean authorize?',
    ],
    [
      'createPlatformHandler',
      createPlatformHandler,
      { agents, http: { disable_run: true } },
      'http.disable_run. Did you mean http.disable_runs?',
    ],
    [
      'createA2AHandler',
      createA2AHandler,
      { agents, a2a: { basepath: '' } },
      'a2a.basepath. Did you mean a2a.basePath?',
    ],
    [
      'createDevtoolsHandler',
      createDevtoolsHandler,
      { agents, devtool: {} },
      'devtool. Did you mean devtools?',
    ],
    [
      'createControlPlaneHandler',
      createControlPlaneHandler,
      { deployer: {}, autenticate: () => null },
      'autenticate. Did you mean authenticate?',
    ],
    [
      'createControlPlaneHandler',
      createControlPlaneHandler,
      { deployer: {}, secrets: { keys: '' } },
      'secrets.keys. Did you mean secrets.key?',
    ],
    [
      'createControlPlaneHandler',
      createControlPlaneHandler,
      { deployer: {}, webhooks: [{ url: 'https://a', secret: 's', event: [] }] },
      'webhooks.0.event. Did you mean webhooks.0.events?',
    ],
    [
      'processDeployer',
      processDeployer,
      { dir: '.', allowRepos: [] },
      'allowRepos. Did you mean allowRepositories?',
    ],
    [
      'commandDeployer',
      commandDeployer,
      { deploy: ['a'], stop: ['a'], destroy: ['a'], prepar: ['a'] },
      'prepar. Did you mean prepare?',
    ],
    ['kubernetesDeployer', kubernetesDeployer, { namespace: 'a', time: {} }, 'time. Did you mean times?'],
    ['tokenVault', tokenVault, { publicURL: 'https://a' }, 'publicURL. Did you mean publicUrl?'],
    [
      'verifyJwt',
      verifyJwt,
      { key: {}, issuer: 'a', audience: 'b', algorithm: 'c' },
      'algorithm. Did you mean algorithms?',
    ],
    [
      'langgraph',
      (options) => langgraph(graph, options),
      { contxt: () => ({}) },
      'contxt. Did you mean context?',
    ],
    ['defineAgent', defineAgent, { run() {}, resumeable: true }, 'resumeable. Did you mean resumable?'],
    ['a2aAgent', a2aAgent, { url: 'https://a', header: {} }, 'header. Did you mean headers?'],
    ['signCards', signCards, { key: {}, alg: 'ES256', kid: 'k', jwks: '' }, 'jwks.'],
    ['memoryStore', memoryStore, { maxAge: 1 }, 'maxAge. Did you mean maxAgeMs?'],
    ['sqliteStorage', sqliteStorage, { url: 'file::memory:', prefx: 'a' }, 'prefx. Did you mean prefix?'],
    ['postgresStorage', postgresStorage, { url: 'postgres://a', shema: 'a' }, 'shema. Did you mean schema?'],
    ['redisStorage', redisStorage, { url: 'redis://a', deadline: 1 }, 'deadline. Did you mean deadlineMs?'],
    [
      'toExpress',
      (options) => toExpress(server, options),
      { onerror() {} },
      'onerror. Did you mean onError?',
    ],
    ['toFastify', (options) => toFastify(server, options), { prefix: '/a' }, 'prefix.'],
    ['toNext', (options) => toNext(server, options), { base: '/a' }, 'base. Did you mean basePath?'],
    [
      'toNode',
      (options) => toNode(server, options),
      { trustproxy: true },
      'trustproxy. Did you mean trustProxy?',
    ],
    [
      'acceptSockets',
      (options) => acceptSockets(untyped({}), server, options),
      { basepath: '/a' },
      'basepath. Did you mean basePath?',
    ],
    [
      'expressThreadMetadata',
      expressThreadMetadata,
      { attach() {}, vender: 'a' },
      'vender. Did you mean vendor?',
    ],
    ['openTelemetry', openTelemetry, { tracr: {} }, 'tracr. Did you mean tracer?'],
    ['openTelemetrySink', openTelemetrySink, { tracer: {}, meter: {} }, 'meter.'],
    ['langsmithSink', langsmithSink, { client: {}, projekt: 'a' }, 'projekt. Did you mean project?'],
    ['startLlmRun', startLlmRun, { name: 'a', redcat: () => {} }, 'redcat. Did you mean redact?'],
    [
      'observeModelStream',
      (options) => observeModelStream(new ReadableStream(), options),
      { onend() {} },
      'onend. Did you mean onEnd?',
    ],
    ['serverAudits', serverAudits, { baseUrl: 'http://a', timeout: 1 }, 'timeout. Did you mean timeoutMs?'],
    ['storeAudits', storeAudits, { create() {}, reopen: true }, 'reopen. Did you mean reopens?'],
    ['checkpointerAudits', checkpointerAudits, { create() {}, store: {} }, 'store.'],
    [
      'graphStoreAudits',
      graphStoreAudits,
      { create() {}, createindexed() {} },
      'createindexed. Did you mean createIndexed?',
    ],
  ])('%s: %#', (name, make, options, rest) => {
    expect(refusal(() => make(options))).toBe(`${name}: unknown option ${rest}`)
  })

  test('also where a promise is given', async () => {
    await expect(serve(server, untyped({ port: 0, slient: true }))).rejects.toThrow(
      'serve: unknown option slient. Did you mean silent?',
    )
    await expect(openStorage('memory:', untyped({ prefx: 'a' }))).rejects.toThrow(
      'openStorage: unknown option prefx. Did you mean prefix?',
    )
  })

  test.each([
    ['cors', 'http.cors'],
    ['maxBodyBytes', 'http.maxBodyBytes'],
    ['basePath', 'threads.basePath'],
  ])('%s is found in its group: %s', (name, meant) => {
    expect(refusal(() => createAgentServer(untyped({ agents, [name]: 1 })))).toBe(
      `createAgentServer: unknown option ${name}. Did you mean ${meant}?`,
    )
  })

  test.each(['wallpaper', 'port'])('suggests nothing for a name that resembles no option: %s', (name) => {
    expect(refusal(() => createAgentServer(untyped({ agents, [name]: 1 })))).toBe(
      `createAgentServer: unknown option ${name}.`,
    )
  })
})

describe('an option of another type is refused at once', () => {
  const OPENS = 'such as the one that openStorage() from agentwire/storage opens'
  test.each<[(options: Untyped) => unknown, unknown, string]>([
    [
      createAgentServer,
      { agents, authenticate: 'x' },
      'createAgentServer: authenticate must be a function, not a string.',
    ],
    [
      createAgentServer,
      { agents, authenticate: null },
      'createAgentServer: authenticate must be a function, not null.',
    ],
    [
      createAgentServer,
      { agents, authenticate: false },
      'createAgentServer: authenticate must be a function, not false.',
    ],
    [
      createAgentServer,
      { agents, http: { maxBodyBytes: '1mb' } },
      'createAgentServer: http.maxBodyBytes must be a number, not a string.',
    ],
    [
      createAgentServer,
      { agents, http: { cors: true } },
      'createAgentServer: http.cors must be false or an object, not true.',
    ],
    [
      createAgentServer,
      { agents, a2a: true },
      'createAgentServer: a2a must be false or an object, not true.',
    ],
    [
      createAgentServer,
      { agents, store: 'file:x.db' },
      `createAgentServer: store must be a store, ${OPENS}, not a string.`,
    ],
    [
      createAgentServer,
      { agents, store: openStorage('memory:') },
      `createAgentServer: store must be a store, ${OPENS}, not this object.`,
    ],
    [
      createAgentEngine,
      { agents, checkpointer: 'memory' },
      `createAgentEngine: checkpointer must be a checkpointer, ${OPENS}, not a string.`,
    ],
    [
      createAgentServer,
      { agents: { graph } },
      'agents.graph is not an agent (object): use langgraph(graph) or defineAgent({ run }).',
    ],
    [createAgentServer, {}, 'The server needs at least one agent.'],
    [createAgentServer, 'x', 'createAgentServer: its options must be an object, not a string.'],
    [
      createControlPlaneHandler,
      undefined,
      'createControlPlaneHandler: deployer is missing. It must be an object.',
    ],
    [createControlPlaneHandler, {}, 'createControlPlaneHandler: deployer is missing. It must be an object.'],
    [apiKeys, { key: 'me' }, 'apiKeys: key must be an object, not a string.'],
    [apiKeys, { key: { tenant: 'a' } }, 'apiKeys: key.id is missing. It must be a string.'],
    [
      defineAgent,
      async () => {},
      'defineAgent takes an object with the function as run: defineAgent({ run }).',
    ],
    [defineAgent, {}, 'defineAgent: run is missing. It must be a function.'],
    [processDeployer, {}, 'processDeployer: dir is missing. It must be a string.'],
    [
      kubernetesDeployer,
      { namespace: 'a', times: { drainMs: '1' } },
      'kubernetesDeployer: times.drainMs must be a number, not a string.',
    ],
  ])('%#', (make, options, message) => {
    expect(refusal(() => make(options))).toBe(message)
  })

  test('an error names no value, because it may be a secret', () => {
    const message = refusal(() => createControlPlaneHandler(untyped({ deployer: {}, secrets: 'hunter2' })))
    expect(message).not.toContain('hunter2')
  })
})

describe('what is spread into options goes on to work', () => {
  test('a storage, for a server, an engine and a control plane', async () => {
    const storage = await openStorage('memory:')
    const sqlite = sqliteStorage({ url: join(tmpdir(), `options-${crypto.randomUUID()}.db`) })
    await createAgentServer({ agents, ...storage }).close()
    await createAgentServer({ agents, ...sqlite }).close()
    await createAgentEngine({ agents, ...storage }).close()
    await createControlPlaneHandler({
      deployer: untyped({ deploy() {} }),
      worker: false,
      ...storage,
      secrets: { key: btoa('x'.repeat(32)) },
    }).close()
    await Promise.all([storage.close(), sqlite.close()])
  })

  test('options that are undefined count as absent, whatever their name', async () => {
    await createAgentServer(
      untyped({ agents, authentcate: undefined, store: undefined, http: undefined }),
    ).close()
  })

  test("LangGraph's own saver, an agent of your own, and a definition that is an instance of a class", async () => {
    class Greeter {
      readonly greeting = 'Hello'
      run() {}
    }
    const own = { stream: async function* () {}, getHistory: async function* () {} }
    const checkpointer = new MemorySaver()
    const all = { own, greeter: defineAgent(new Greeter()), graph: langgraph(graph) }
    await createAgentServer(untyped({ agents: new Map(Object.entries(all)), checkpointer })).close()
    await createAgentServer({ agents, checkpointer: memoryCheckpointer(), store: memoryStore() }).close()
  })
})
