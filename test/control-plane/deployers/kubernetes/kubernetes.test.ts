import { expect, test } from 'vitest'
import type { Running } from '../../../../src/control-plane/deployers/deployer.ts'
import { eventually } from '../../../kit/wait.ts'
import type { Kept } from './cluster.ts'
import { contextOf, deployers, deployRevision, settled } from './drive.ts'
import { type FakeApi, fakeApis } from './fake-api.ts'

const openApi = fakeApis()
const makeDeployer = deployers()

const workloads = (api: FakeApi) =>
  api.cluster
    .all('Deployment')
    .map(({ metadata, spec }) => ({ name: metadata.name, replicas: spec.replicas as number }))
const service = (api: FakeApi) => api.cluster.all('Service')[0]
const agentOf = (deployment: Kept) => deployment.spec.template.spec.containers[0]
const handleOf = (running: Running) => running.handle as { namespace: string; workload: string }

test('a revision becomes a Secret and a Deployment, and the Service of the deployment selects it', async () => {
  const api = await openApi()
  const { running, context } = await deployRevision(makeDeployer(api), {
    number: 1,
    secrets: { TOKEN: 'grüße', EMPTY: '' },
    secretReferences: [{ name: 'DB_URL', secret_name: 'database', secret_key: 'url' }],
  })
  const [deployment] = api.cluster.all('Deployment')
  const [secret] = api.cluster.all('Secret')
  const { workload } = handleOf(running)
  expect(workload).toMatch(/^support-agent-[0-9a-f]{10}$/)
  expect(deployment!.metadata.name).toBe(workload)
  expect(secret!.metadata.name).toBe(workload)
  expect(
    Object.entries(secret!.data!).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  ).toEqual([
    ['TOKEN', 'grüße'],
    ['EMPTY', ''],
  ])
  expect(agentOf(deployment!)).toMatchObject({
    name: 'agent',
    image: 'registry.example.com/agents/support:ok',
    envFrom: [{ secretRef: { name: workload } }],
    env: [
      { name: 'DB_URL', valueFrom: { secretKeyRef: { name: 'database', key: 'url' } } },
      { name: 'PORT', value: '8000' },
    ],
    readinessProbe: { httpGet: { path: '/ok', port: 'http' } },
  })
  expect(deployment!.spec.template.spec.automountServiceAccountToken).toBe(false)
  expect(service(api)!.spec.selector).toMatchObject({ 'agentwire/workload': workload })
  expect(running.url).toBe(`http://${service(api)!.metadata.name}.agents.svc`)
  expect(context.text()).toContain('1 of 1 servers are ready.')
  expect(JSON.stringify(api.cluster.all('Deployment'))).not.toContain('grüße')
})

test('a Secret goes with its Deployment, whoever removes that', async () => {
  const api = await openApi()
  await deployRevision(makeDeployer(api), { number: 1 })
  api.cluster.removeNow(api.cluster.all('Deployment')[0]!)
  expect(api.cluster.all('Secret')).toEqual([])
})

test('the next revision starts beside the one that serves, which is kept without servers', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const first = await deployRevision(deployer, { number: 1 })
  const selected: (string | undefined)[] = []
  api.afterServed = ({ kind, method }) => {
    if (kind === 'Deployment' && method === 'GET')
      selected.push(service(api)?.spec.selector['agentwire/workload'])
  }
  const second = await deployRevision(deployer, { number: 2, previous: first.running })
  // While the new servers started, the old ones served.
  expect(selected[0]).toBe(handleOf(first.running).workload)
  expect(service(api)!.spec.selector['agentwire/workload']).toBe(handleOf(second.running).workload)
  expect(second.running.url).toBe(first.running.url)
  expect(workloads(api)).toEqual([
    { name: handleOf(first.running).workload, replicas: 0 },
    { name: handleOf(second.running).workload, replicas: 1 },
  ])
})

test('a redeploy starts the kept Deployment of its revision again', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const first = await deployRevision(deployer, { number: 1 })
  const second = await deployRevision(deployer, { number: 2, previous: first.running })
  const third = await deployRevision(deployer, {
    number: 3,
    previous: second.running,
    artifact: first.artifact,
  })
  expect(handleOf(third.running).workload).toBe(handleOf(first.running).workload)
  expect(workloads(api)).toEqual([
    { name: handleOf(first.running).workload, replicas: 1 },
    { name: handleOf(second.running).workload, replicas: 0 },
  ])
})

test('a server that is stopped late is left alone where its Deployment serves again', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const first = await deployRevision(deployer, { number: 1 })
  const second = await deployRevision(deployer, { number: 2, previous: first.running })
  await deployRevision(deployer, { number: 3, previous: second.running, artifact: first.artifact })
  await deployer.stop(first.running, contextOf({ number: 3 }))
  expect(workloads(api)).toContainEqual({ name: handleOf(first.running).workload, replicas: 1 })
})

test('a server that is stopped while it is deployed again goes on, whichever comes first', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const first = await deployRevision(deployer, { number: 1 })
  const second = await deployRevision(deployer, { number: 2, previous: first.running })
  // The redeploy applies the Deployment between the look of the stop and its write.
  let again: Promise<unknown> | undefined
  api.fault = ({ path }) => {
    if (again || !path.endsWith('/scale')) return undefined
    api.cluster.touch(api.cluster.get('Deployment', 'agents', handleOf(first.running).workload)!)
    again = deployRevision(deployer, { number: 3, artifact: first.artifact })
    return undefined
  }
  await deployer.stop(first.running, contextOf({ number: 3 }))
  await again
  expect(workloads(api)).toContainEqual({ name: handleOf(first.running).workload, replicas: 1 })
  expect(service(api)!.spec.selector['agentwire/workload']).toBe(handleOf(first.running).workload)
  expect(handleOf(second.running).workload).not.toBe(handleOf(first.running).workload)
})

test('a Service that could not be switched selects the servers that are kept', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api, { times: { retryForMs: 0 } })
  const first = await deployRevision(deployer, { number: 1 })
  // It was switched, and the answer was lost.
  let isLost = false
  const { apply } = api.cluster
  api.fault = ({ kind, method, body }) => {
    if (isLost || kind !== 'Service' || method !== 'PATCH') return undefined
    isLost = true
    apply(JSON.parse(body))
    return 'cut'
  }
  await expect(deployRevision(deployer, { number: 2, previous: first.running })).rejects.toThrow(
    'the Kubernetes API did not answer',
  )
  expect(isLost).toBe(true)
  expect(service(api)!.spec.selector['agentwire/workload']).toBe(handleOf(first.running).workload)
})

test('a redeploy of the revision that serves starts new servers beside it', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const first = await deployRevision(deployer, { number: 1 })
  const second = await deployRevision(deployer, {
    number: 2,
    previous: first.running,
    artifact: first.artifact,
  })
  expect(handleOf(second.running).workload).not.toBe(handleOf(first.running).workload)
  expect(workloads(api).map(({ replicas }) => replicas)).toEqual([0, 1])
  // The third one takes the kept Deployment, which does not serve any more.
  const third = await deployRevision(deployer, {
    number: 3,
    previous: second.running,
    artifact: first.artifact,
  })
  expect(handleOf(third.running).workload).toBe(handleOf(first.running).workload)
})

test('only so many stopped revisions are kept, the newest ones', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api, { revisionHistory: 2 })
  let previous: Running | undefined
  const names: string[] = []
  for (let number = 1; number <= 5; number++) {
    const { running } = await deployRevision(deployer, { number, previous })
    previous = running
    names.push(handleOf(running).workload)
  }
  expect(workloads(api).map(({ name }) => name)).toEqual(names.slice(2))
  expect(api.cluster.all('Secret').map(({ metadata }) => metadata.name)).toEqual(names.slice(2))
})

test('an autoscaler is there where the most servers are more than the least, and goes with its revision', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const { running } = await deployRevision(deployer, {
    number: 1,
    resourceSpec: { min_scale: 2, max_scale: 5, cpu: 0.5 },
  })
  const [autoscaler] = api.cluster.all('HorizontalPodAutoscaler')
  expect(autoscaler!.spec).toMatchObject({
    minReplicas: 2,
    maxReplicas: 5,
    scaleTargetRef: { name: handleOf(running).workload },
    metrics: [{ containerResource: { container: 'agent', target: { type: 'Utilization' } } }],
  })
  await deployer.stop(running, contextOf({ number: 1 }))
  expect(api.cluster.all('HorizontalPodAutoscaler')).toEqual([])
  await settled()
  expect(api.cluster.all('Pod')).toEqual([])
})

test('what the resources of a server are is written as Kubernetes has it', async () => {
  const api = await openApi()
  await deployRevision(makeDeployer(api, { allow: { serviceAccounts: ['reader'] } }), {
    number: 1,
    resourceSpec: {
      cpu: 0.5,
      memory_mb: 512,
      memory_limit_mb: 600,
      labels: { team: 'support' },
      annotations: { 'example.com/note': 'any text: it is free' },
      service_account_name: 'reader',
      image_pull_secrets: [{ name: 'registry' }],
      volumes: [{ name: 'cache', emptyDir: { sizeLimit: '1Gi' } }],
      volume_mounts: [{ name: 'cache', mountPath: '/cache' }],
      init_containers: [{ name: 'migrate', image: 'migrate:1', command: ['migrate'] }],
      sidecars: [{ name: 'proxy', image: 'proxy:1', ports: [{ containerPort: 5432 }] }],
      queue_cpu: 1,
      db_storage_gi: null,
    },
  })
  const [deployment] = api.cluster.all('Deployment')
  const { metadata, spec } = deployment!.spec.template
  expect(deployment!.metadata.labels).toMatchObject({ team: 'support' })
  expect(metadata.labels).toMatchObject({ team: 'support' })
  expect(metadata.annotations).toEqual({ 'example.com/note': 'any text: it is free' })
  expect(spec).toMatchObject({
    serviceAccountName: 'reader',
    automountServiceAccountToken: true,
    imagePullSecrets: [{ name: 'registry' }],
    volumes: [{ name: 'cache', emptyDir: { sizeLimit: '1Gi' } }],
    initContainers: [{ name: 'migrate' }],
    containers: [
      {
        name: 'agent',
        resources: { requests: { cpu: '500m', memory: '512Mi' }, limits: { cpu: '1000m', memory: '600Mi' } },
        volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
      },
      { name: 'proxy' },
    ],
  })
})

test('members of resource_spec without a meaning here are told in the log', async () => {
  const api = await openApi()
  const { context } = await deployRevision(makeDeployer(api), {
    number: 1,
    resourceSpec: { queue_cpu: 1, db_storage_gi: null, redis_memory_mb: 512 },
  })
  expect(context.lines).toContainEqual({
    line: 'resource_spec has members that have no effect here: queue_cpu, redis_memory_mb.',
    level: 'WARNING',
  })
})

test('the options change the pods, the port and the address', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api, {
    port: 2024,
    pod: (pod, { deploymentName }) => ({ ...pod, nodeSelector: { agents: deploymentName } }),
    url: ({ name, namespace }) => `https://${name}.${namespace}.example.com`,
  })
  const { running } = await deployRevision(deployer, { number: 1 })
  const [deployment] = api.cluster.all('Deployment')
  expect(deployment!.spec.template.spec.nodeSelector).toEqual({ agents: 'Support-Agent' })
  expect(agentOf(deployment!).ports[0].containerPort).toBe(2024)
  expect(agentOf(deployment!).env).toContainEqual({ name: 'PORT', value: '2024' })
  expect(running.url).toMatch(/^https:\/\/support-agent-[0-9a-f]{10}\.agents\.example\.com$/)
})

test('a namespace that is allowed is used, and all of them are cleared', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api, { namespaces: ['team-a'] })
  const context = {
    ...contextOf({ number: 1 }),
    sourceConfig: { listener_config: { k8s_namespace: 'team-a' } },
  }
  const artifact = (await deployer.prepare!(context)).prepared
  const running = await deployer.promote!(
    { ...context, artifact },
    await deployer.deploy({ ...context, artifact }),
  )
  expect(api.cluster.all('Deployment', 'team-a')).toHaveLength(1)
  expect(service(api)!.metadata.namespace).toBe('team-a')
  expect(running.url).toMatch(/\.team-a\.svc$/)
  await deployer.destroy(context)
  expect(api.cluster.all('Deployment')).toEqual([])
})

test('the objects of a deployment are removed in the foreground, and those of others stay', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const first = await deployRevision(deployer, { number: 1, resourceSpec: { max_scale: 3 } })
  await deployRevision(deployer, { number: 2, previous: first.running, resourceSpec: { max_scale: 3 } })
  const other = { ...contextOf({ number: 1 }), deploymentId: 'another' }
  const artifact = (await deployer.prepare!(other)).prepared
  await deployer.promote!({ ...other, artifact }, await deployer.deploy({ ...other, artifact }))

  await deployer.destroy(contextOf({ number: 2 }))
  for (const kind of ['Deployment', 'Service', 'Secret', 'Pod'])
    expect(api.cluster.all(kind).map(({ metadata }) => metadata.labels!['agentwire/deployment'])).toEqual([
      'another',
    ])
  expect(api.cluster.all('HorizontalPodAutoscaler')).toEqual([])
  const policies = api.requests.filter(({ kind, method }) => kind === 'Deployment' && method === 'DELETE')
  expect(policies.map(({ body }) => JSON.parse(body).propagationPolicy)).toEqual(['Foreground', 'Foreground'])
  await deployer.destroy(contextOf({ number: 2 }))
})

test('what another deployer has started is left alone', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const foreign = { url: 'http://127.0.0.1:1', handle: { pid: 1 } }
  await deployer.stop(foreign, contextOf({ number: 1 }))
  expect(api.requests).toEqual([])
  await deployRevision(deployer, { number: 1, previous: foreign })
  expect(workloads(api).map(({ replicas }) => replicas)).toEqual([1])
})

test('the lines of the servers come into the log, also of those that are started later, until they stop', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api)
  const { running, context } = await deployRevision(deployer, { number: 1 })
  const [pod] = api.cluster.all('Pod')
  await eventually(() => context.text().includes('listening'))
  api.cluster.say(pod!, 'a run began')
  await eventually(() => context.text().includes('a run began'))

  api.cluster.scale('agents', handleOf(running).workload, 2)
  await eventually(() => api.cluster.all('Pod').length === 2)
  api.cluster.say(api.cluster.all('Pod')[1]!, 'the second one')
  await eventually(() => context.text().includes('the second one'))

  await deployer.stop(running, contextOf({ number: 1 }))
  // Requests that were under way may end afterwards.
  await eventually(async () => {
    const asked = api.requests.length
    await settled()
    return api.requests.length === asked
  })
})

test('a log that breaks is continued without losing or doubling a line', async () => {
  const api = await openApi()
  const { context } = await deployRevision(makeDeployer(api), { number: 1 })
  const [pod] = api.cluster.all('Pod')
  const said: string[] = []
  for (let round = 0; round < 6; round++) {
    for (let at = 0; at < 3; at++) {
      said.push(`line ${round}.${at}`)
      api.cluster.say(pod!, said.at(-1)!)
    }
    if (round % 2 === 1) api.cutLogs()
    await eventually(() => context.text().includes(said.at(-1)!))
  }
  const heard = context.lines.map(({ line }) => line).filter((line) => line.startsWith('line '))
  expect(heard).toEqual(said)
})

test('a control plane that may not read logs says so once, and deploys', async () => {
  const api = await openApi()
  api.fault = ({ path }) => (path.endsWith('/log') ? { status: 403 } : undefined)
  const { context } = await deployRevision(makeDeployer(api), { number: 1 })
  await settled()
  await settled()
  expect(context.lines.filter(({ level }) => level === 'WARNING').map(({ line }) => line)).toEqual([
    'Could not read the server\'s log: the control plane does not have permission for this in the namespace "agents".',
  ])
})

test('without followed logs nothing is asked once the deploy is over', async () => {
  const api = await openApi()
  const deployer = makeDeployer(api, { followLogs: false })
  await deployRevision(deployer, { number: 1 })
  const asked = api.requests.length
  await settled()
  expect(api.requests.length).toBe(asked)
})
