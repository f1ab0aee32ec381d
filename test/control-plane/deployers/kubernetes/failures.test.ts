import { expect, test } from 'vitest'
import { DeployError } from '../../../../src/control-plane/deployers/deployer.ts'
import { AgentwireError } from '../../../../src/core/errors.ts'
import { eventually } from '../../../kit/wait.ts'
import { contextOf, deployers, deployRevision, settled } from './drive.ts'
import { type FakeApi, type Fault, fakeApis, type Recorded } from './fake-api.ts'

const openApi = fakeApis()
const makeDeployer = deployers()

const image = (tag: string) => `registry.example.com/agents/support:${tag}`
const allOf = (api: FakeApi) =>
  ['Deployment', 'Secret', 'Service', 'HorizontalPodAutoscaler', 'Pod'].flatMap((kind) =>
    api.cluster.all(kind),
  )

/** Deploys an image that does not start, and gives the error and the log. */
async function failing(api: FakeApi, tag: string, options: Parameters<typeof makeDeployer>[1] = {}) {
  const deployer = makeDeployer(api, options)
  const context = contextOf({ number: 1, image: image(tag) })
  const error = await deployer.deploy(context).then(
    () => undefined,
    (error) => error,
  )
  expect(error).toBeInstanceOf(DeployError)
  return { message: (error as Error).message, context }
}

test.each([
  ['no-image', 'The container "agent" cannot be started: ImagePullBackOff: Back-off pulling image.'],
  [
    'no-config',
    'The container "agent" cannot be started: CreateContainerConfigError: secret "absent" not found.',
  ],
  [
    'crash',
    'The container "agent" keeps exiting (3 restarts), last with exit code 7 (Error). Its last lines: connecting | Error: the password *** is wrong',
  ],
  [
    'late',
    'The servers were not ready in time. A server is running but does not answer GET /ok with 200. Its last lines: waiting for the database',
  ],
  ['quota', 'The servers were not ready in time. exceeded quota: agents'],
])('an image that is %s fails the deploy with its reason, and leaves nothing', async (tag, message) => {
  const api = await openApi()
  const failed = await failing(api, tag)
  expect(failed.message).toBe(message)
  expect(allOf(api)).toEqual([])
})

test('the last lines of a server that failed are in the log, as errors', async () => {
  const { context } = await failing(await openApi(), 'crash')
  expect(context.lines).toContainEqual({ line: 'connecting', level: 'ERROR' })
})

test.each(['not-ready', 'no-room'])('a server that stays %s fails when the deadline is over', async (tag) => {
  const { message, context } = await failing(await openApi(), tag, {
    times: { progressDeadlineSeconds: 1 },
  })
  const held = '0/3 nodes are available'
  if (tag === 'no-room') {
    expect(message).toBe(`The servers were not ready in time. ${held}`)
    expect(context.lines.filter(({ level }) => level === 'WARNING')).toEqual([
      { line: `A server is waiting to be scheduled: ${held}`, level: 'WARNING' },
    ])
  } else expect(message).toContain('does not answer GET /ok')
})

test('a revision that fails leaves the one before serving', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const first = await deployRevision(deployer, { number: 1 })
  const before = structuredClone(allOf(api))
  const second = contextOf({ number: 2, image: image('crash'), previous: first.running })
  await expect(deployer.deploy(second)).rejects.toThrow(DeployError)
  const versionless = (objects: ReturnType<typeof allOf>) =>
    objects.map(({ metadata: { resourceVersion, ...metadata }, ...rest }) => ({ ...rest, metadata }))
  expect(versionless(allOf(api))).toEqual(versionless(before))
})

test('a Deployment that somebody removes while it is rolled out fails the deploy', async () => {
  const api = await openApi()
  const deploying = failing(api, 'not-ready')
  await eventually(() => api.cluster.all('Pod').length > 0)
  api.cluster.removeNow(api.cluster.all('Deployment')[0]!)
  expect((await deploying).message).toMatch(/^The Deployment ".+" was removed during the rollout\.$/)
})

test('an abort ends a rollout at once, with its reason, and removes what was started', async () => {
  const api = await openApi()
  const abort = new AbortController()
  const deployer = makeDeployer(api)
  const deploying = deployer.deploy(contextOf({ number: 1, image: image('not-ready'), signal: abort.signal }))
  await eventually(() => api.cluster.all('Pod').length > 0)
  const reason = new Error('a newer revision came')
  abort.abort(reason)
  await expect(deploying).rejects.toBe(reason)
  expect(allOf(api)).toEqual([])
})

test('an aborted attempt leaves alone what another instance has applied since', async () => {
  const api = await openApi()
  const abort = new AbortController()
  const slow = contextOf({ number: 1, image: image('slow'), signal: abort.signal })
  const lost = makeDeployer(api).deploy(slow)
  await eventually(() => api.cluster.all('Pod').length > 0)
  const other = contextOf({ number: 1, image: image('slow') })
  const taken = makeDeployer(api).deploy(other)
  const applied = () =>
    api.requests.filter(({ kind, method }) => kind === 'Secret' && method === 'PATCH').length
  await eventually(() => applied() === 4)
  abort.abort(new Error('the lease was lost'))
  await expect(lost).rejects.toThrow('the lease was lost')
  await taken
  expect(api.cluster.all('Deployment')).toHaveLength(1)
  expect(api.cluster.all('Secret')).toHaveLength(1)
})

test('what the API server refuses of an object is told in its words', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const context = contextOf({
    number: 1,
    resourceSpec: { sidecars: [{ name: 'proxy', image: 'proxy:1', env: [{ name: 'A', valu: 'a' }] }] },
  })
  await expect(deployer.deploy(context)).rejects.toThrow(
    /^Could not apply the Deployment "support-agent-[0-9a-f]{10}": Deployment is invalid: .*additional.*valu/,
  )
  // The Secret came first.
  expect(allOf(api)).toEqual([])
})

test.each<[number, string]>([
  [401, 'the Kubernetes API does not accept the credentials of the control plane.'],
  [403, 'the control plane does not have permission for this in the namespace "agents".'],
  [404, 'the namespace "agents" or this kind of object does not exist.'],
  [413, 'too big'],
])('an answer of %i fails at once, and names no account of the cluster', async (status, text) => {
  const api = await openApi()
  api.fault = ({ method }) =>
    method === 'PATCH'
      ? { status, message: status === 413 ? 'too big' : 'User "system:serviceaccount:x" cannot' }
      : undefined
  const error = await makeDeployer(api)
    .deploy(contextOf({ number: 1 }))
    .catch((error) => error)
  expect(error).toBeInstanceOf(DeployError)
  expect(error.message).toMatch(/^Could not apply the Secret "support-agent-[0-9a-f]{10}": /)
  expect(error.message).toContain(text)
  expect(error.message).not.toContain('serviceaccount')
  expect(String(error.cause)).toContain(`answered ${status}`)
  expect(api.requests.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
})

const kindOf = ({ method, kind, name, path }: Recorded) =>
  `${method} ${path.endsWith('/scale') ? 'scale of ' : name === undefined ? 'all of ' : ''}${kind}`

test.each<[string, Fault]>([
  ['a conflict', { status: 409 }],
  ['an overload', { status: 429 }],
  ['an internal error', { status: 500 }],
  ['a restart', { status: 503 }],
  ['a cut connection', 'cut'],
  ['a half answer', 'half'],
  ['no answer', 'hang'],
])('%s of the first request of each kind is made good by another one', async (_, fault) => {
  const api = await openApi()
  const failed = new Set<string>()
  api.fault = (request) => {
    if (failed.has(kindOf(request))) return undefined
    failed.add(kindOf(request))
    return fault
  }
  const deployer = makeDeployer(api, { followLogs: false, times: { requestMs: 200 } })
  const first = await deployRevision(deployer, { number: 1, resourceSpec: { max_scale: 2 } })
  await deployRevision(deployer, { number: 2, previous: first.running })
  expect(api.cluster.all('Deployment').map(({ spec }) => spec.replicas)).toEqual([0, 1])
  await deployer.destroy(contextOf({ number: 2 }))
  expect(allOf(api)).toEqual([])
  // A Secret may be gone with its Deployment before its turn comes.
  failed.delete('DELETE Secret')
  // Pods are looked at only as long as the servers are not ready.
  failed.delete('GET all of Pod')
  expect([...failed].sort()).toEqual([
    'DELETE Deployment',
    'DELETE HorizontalPodAutoscaler',
    'DELETE Service',
    'GET Deployment',
    'GET Service',
    'GET all of Deployment',
    'GET all of HorizontalPodAutoscaler',
    'GET all of Secret',
    'GET all of Service',
    'PATCH Deployment',
    'PATCH HorizontalPodAutoscaler',
    'PATCH Secret',
    'PATCH Service',
    'PATCH scale of Deployment',
  ])
})

test('an overloaded API server is asked again after the time that it names', async () => {
  const api = await openApi()
  const asked: number[] = []
  api.fault = ({ method }) => {
    if (method !== 'PATCH') return undefined
    asked.push(performance.now())
    return asked.length === 1 ? { status: 429, headers: { 'retry-after': '1' } } : undefined
  }
  await makeDeployer(api).deploy(contextOf({ number: 1 }))
  expect(asked[1]! - asked[0]!).toBeGreaterThanOrEqual(990)
})

test('an API server that stays away fails the deploy with a sentence', async () => {
  const api = await openApi()
  api.fault = () => 'cut'
  const error = await makeDeployer(api, { times: { retryForMs: 100 } })
    .deploy(contextOf({ number: 1 }))
    .catch((error) => error)
  expect(error).toBeInstanceOf(DeployError)
  expect(error.message).toMatch(/^Could not apply the Secret ".+": the Kubernetes API did not answer\.$/)
})

test('an abort ends the wait for an API server that does not answer', async () => {
  const api = await openApi()
  api.fault = () => 'hang'
  const abort = new AbortController()
  const deploying = makeDeployer(api).deploy(contextOf({ number: 1, signal: abort.signal }))
  await eventually(() => api.requests.length > 0)
  abort.abort(new Error('stop'))
  await expect(deploying).rejects.toThrow('stop')
})

test('a crash after any request is made good by beginning the phase again', async () => {
  const calm = await openApi()
  const run = async (api: FakeApi, deployer: ReturnType<typeof makeDeployer>) => {
    const first = await deployRevision(deployer, { number: 1, resourceSpec: { max_scale: 2 } })
    await deployRevision(deployer, { number: 2, previous: first.running, resourceSpec: { max_scale: 2 } })
    return allOf(api).filter(({ kind }) => kind !== 'Pod')
  }
  const shape = (objects: Awaited<ReturnType<typeof run>>) =>
    objects.map(({ kind, metadata, spec }) => [kind, metadata.name, spec?.replicas, spec?.selector]).sort()
  const followLogs = false
  const expected = shape(await run(calm, makeDeployer(calm, { followLogs })))
  const writes = calm.requests.filter(({ method }) => method !== 'GET').length

  for (let at = 1; at <= writes; at++) {
    const api = await openApi()
    let count = 0
    let isDead = false
    // The process is gone once this many writes were carried out: nothing of it reaches the API server any more.
    api.afterServed = ({ method }) => {
      if (method !== 'GET' && ++count === at) isDead = true
    }
    api.fault = () => (isDead ? 'cut' : undefined)
    await run(api, makeDeployer(api, { followLogs, times: { retryForMs: 0 } })).catch((error) => {
      if (!(error instanceof AgentwireError)) throw error
    })
    api.fault = () => undefined
    expect(shape(await run(api, makeDeployer(api, { followLogs }))), `after write ${at}`).toEqual(expected)
    await settled()
  }
})

test('what a lost process has left running is stopped by the next deploy', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const first = await deployRevision(deployer, { number: 1 })
  // Its instance was killed while it waited.
  await deployer.deploy(contextOf({ number: 2, previous: first.running }))
  const third = await deployRevision(deployer, { number: 3, previous: first.running })
  const running = api.cluster.all('Deployment').filter(({ spec }) => spec.replicas > 0)
  expect(running.map(({ metadata }) => metadata.name)).toEqual([
    (third.running.handle as { workload: string }).workload,
  ])
})
