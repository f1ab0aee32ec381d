import fc from 'fast-check'
import { expect, test } from 'vitest'
import { kubernetesDeployer } from '../../../../src/control-plane/deployers/kubernetes/kubernetes.ts'
import { anyCharacter } from '../../../kit/arbitraries.ts'
import { contextOf, deployers, deployRevision } from './drive.ts'
import { fakeApis } from './fake-api.ts'
import { problemsOf } from './schemas.ts'

const openApi = fakeApis()
const makeDeployer = deployers()

const deployer = kubernetesDeployer({
  namespace: 'agents',
  namespaces: ['team-a'],
  allow: { serviceAccounts: ['reader'] },
  client: () => Promise.reject(new Error('no request is sent')),
})
const refuses = (change: Partial<Parameters<typeof deployer.refuses>[0]>) =>
  deployer.refuses({ ...contextOf({ number: 1 }), ...change })
const refusesSpec = (resource_spec: object) =>
  refuses({ sourceConfig: { resource_spec: resource_spec as Record<string, never> } })

test('an image is taken, and every other source is refused in a sentence', () => {
  expect(refuses({})).toBeUndefined()
  for (const source of ['github', 'internal_docker', 'internal_source', 'internal_template'] as const)
    expect(refuses({ source })).toBe(
      `This control plane runs images: "source" must be "external_docker", with "source_revision_config.image_uri". It cannot build "${source}".`,
    )
})

test.each([undefined, null, '', 'a b', '--privileged', 'a\nb', 'a;b'])(
  'the image %j is refused',
  (image_uri) => {
    expect(refuses({ sourceRevisionConfig: { image_uri } })).toMatch(
      /^source_revision_config\.image_uri must name/,
    )
  },
)

test.each(['a', 'registry:5000/a/b:1.2', `a@sha256:${'0'.repeat(64)}`])(
  'the image %s is taken',
  (image_uri) => {
    expect(refuses({ sourceRevisionConfig: { image_uri } })).toBeUndefined()
  },
)

test('only the allowed namespaces are taken', () => {
  const named = (k8s_namespace: string | null) =>
    refuses({ sourceConfig: { listener_config: { k8s_namespace } } })
  expect(named('team-a')).toBeUndefined()
  expect(named('agents')).toBeUndefined()
  expect(named(null)).toBeUndefined()
  for (const name of ['kube-system', '../agents', '', 'agents/../kube-system'])
    expect(named(name)).toMatch(/k8s_namespace must be one of the namespaces/)
})

test('a reference to a Secret that cannot be one is refused', () => {
  const referenced = (secret_name: string, secret_key: string) =>
    refuses({ secretReferences: [{ name: 'TOKEN', secret_name, secret_key }] })
  expect(referenced('database', 'url')).toBeUndefined()
  for (const [name, key] of [
    ['Database', 'url'],
    ['database', 'a b'],
    ['', 'url'],
    ['a/b', 'url'],
  ] as const)
    expect(referenced(name, key)).toMatch(/^secret_references must name a Kubernetes Secret/)
})

test.each<[object, string]>([
  [{ min_scale: 0 }, 'resource_spec.min_scale must be 1 or more'],
  [{ min_scale: 1.5 }, 'resource_spec.min_scale must be 1 or more'],
  [{ min_scale: 3, max_scale: 2 }, 'resource_spec.max_scale must be an integer that is not less'],
  [{ cpu: '1' }, 'resource_spec.cpu must be a number'],
  [{ cpu: 0 }, 'resource_spec.cpu must be more than 0'],
  [{ cpu: 2, cpu_limit: 1 }, 'resource_spec.cpu_limit must not be less than resource_spec.cpu'],
  [{ memory_mb: 1e21 }, 'resource_spec.memory_limit_mb must not be more than 1000000000'],
  [{ memory_mb: 512, memory_limit_mb: 0 }, 'resource_spec.memory_limit_mb must not be less'],
  [{ labels: { 'a b': 'x' } }, 'resource_spec.labels has a key'],
  [{ labels: { a: 'x y' } }, 'resource_spec.labels has a value'],
  [{ labels: { a: 1 } }, 'resource_spec.labels must have strings as values'],
  [{ labels: [] }, 'resource_spec.labels must be an object'],
  [{ labels: { 'agentwire/workload': 'x' } }, 'resource_spec.labels must not set "agentwire/workload"'],
  [{ labels: { 'app.kubernetes.io/managed-by': 'x' } }, 'resource_spec.labels must not set'],
  [{ annotations: { 'a/b/c': 'x' } }, 'resource_spec.annotations has a key'],
  [{ service_account_name: 'Not A Name' }, 'resource_spec.service_account_name is not the name'],
  [{ sidecars: [{ image: 'x' }] }, 'resource_spec.sidecars must be a list of objects, each with a name'],
  [{ sidecars: 'x' }, 'resource_spec.sidecars must be a list'],
  [{ sidecars: [{ name: 'agent' }] }, 'resource_spec.init_containers and sidecars must not use a name twice'],
  [{ init_containers: [{ name: 'a' }], sidecars: [{ name: 'a' }] }, 'must not use a name twice'],
  [{ volumes: [{ name: 'a' }, { name: 'a' }] }, 'resource_spec.volumes must not use a name twice'],
  [{ volume_mounts: [{ name: 'a', mountPath: '/a' }] }, 'resource_spec.volume_mounts names a volume'],
])('the resource_spec %j is refused', (spec, message) => {
  expect(refusesSpec(spec)).toContain(message)
})

const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/)
const labelText = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_.-]{0,20}[A-Za-z0-9])?$/)
const given = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const tenths = (most: number) => fc.integer({ min: 1, max: most * 10 }).map((value) => value / 10)
const containers = fc.uniqueArray(fc.record({ name: name.filter((text) => text !== 'agent'), image: name }), {
  selector: (container) => container.name,
  maxLength: 4,
})

const specs = fc
  .record({
    scale: given(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 4 }))),
    cpu: given(fc.tuple(tenths(8), given(tenths(8)))),
    memory: given(fc.tuple(fc.integer({ min: 1, max: 65_536 }), given(fc.integer({ min: 0, max: 65_536 })))),
    labels: given(fc.dictionary(labelText, labelText)),
    annotations: given(fc.dictionary(labelText, fc.string())),
    service_account_name: given(fc.constant('reader')),
    image_pull_secrets: given(fc.array(fc.record({ name }), { maxLength: 3 })),
    volumes: given(fc.uniqueArray(name, { maxLength: 4 })),
    containers: given(containers),
    split: fc.nat(4),
    queue_cpu: given(tenths(8)),
  })
  .map(({ scale, cpu, memory, volumes, containers, split, ...rest }) => ({
    ...rest,
    min_scale: scale?.[0],
    max_scale: scale && scale[0] + scale[1],
    cpu: cpu?.[0],
    cpu_limit: cpu?.[1] === undefined ? null : cpu[0] + cpu[1],
    memory_mb: memory?.[0],
    memory_limit_mb: memory?.[1] === undefined ? undefined : memory[0] + memory[1],
    volumes: volumes?.map((name) => ({ name, emptyDir: {} })),
    volume_mounts: volumes?.map((name) => ({ name, mountPath: `/${name}` })),
    init_containers: containers?.slice(0, split),
    sidecars: containers?.slice(split),
  }))

const anything = fc.oneof(
  fc.jsonValue().filter((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  fc.dictionary(
    fc.constantFrom(
      'min_scale',
      'max_scale',
      'cpu',
      'cpu_limit',
      'memory_mb',
      'labels',
      'annotations',
      'volumes',
      'volume_mounts',
      'sidecars',
    ),
    fc.oneof(fc.jsonValue(), fc.array(fc.record({ name: fc.oneof(name, fc.string()) }))),
  ),
)

test('every resource_spec that keeps the rules becomes objects that the published schemas take', async () => {
  const api = await openApi({ startMs: 0 })
  const deployer = makeDeployer(api, {
    allow: { serviceAccounts: ['reader'] },
    followLogs: false,
    times: { lookMs: 1, mostLookMs: 1 },
  })
  let number = 0
  await fc.assert(
    fc.asyncProperty(
      specs,
      fc.string(),
      fc.dictionary(fc.stringMatching(/^[A-Z_]{1,9}$/), fc.string({ unit: anyCharacter })),
      async (spec, name, secrets) => {
        const resourceSpec = JSON.parse(JSON.stringify(spec))
        expect(refusesSpec(resourceSpec)).toBeUndefined()
        const applied = api.requests.length
        await deployRevision(deployer, { number: ++number, name, resourceSpec, secrets })
        const objects = api.requests
          .slice(applied)
          .filter(({ contentType }) => contentType === 'application/apply-patch+yaml')
          .map(({ body }) => JSON.parse(body))
        expect(objects.length).toBeGreaterThanOrEqual(4)
        expect(objects.flatMap(problemsOf)).toEqual([])
        // The fake looks through all that it has.
        await deployer.destroy(contextOf({ number, name }))
      },
    ),
    { numRuns: 100 },
  )
})

test('any other resource_spec is refused in a sentence, or refused by the API server, or taken', async () => {
  const api = await openApi({ startMs: 0 })
  const deployer = makeDeployer(api, {
    allow: { serviceAccounts: ['reader'] },
    followLogs: false,
    times: { lookMs: 1, mostLookMs: 1 },
  })
  await fc.assert(
    fc.asyncProperty(anything, async (given) => {
      const resourceSpec = JSON.parse(JSON.stringify(given))
      const refusal = deployer.refuses({ ...contextOf({ number: 1, resourceSpec }) })
      if (refusal !== undefined) {
        expect(refusal).toMatch(/^resource_spec\..+\.$/s)
        return
      }
      if ((resourceSpec.max_scale ?? resourceSpec.min_scale ?? 0) > 5) return
      await deployRevision(deployer, { number: 1, resourceSpec }).catch((error) =>
        expect(error.message).toMatch(/^Could not apply the Deployment .*additional/),
      )
    }),
    { numRuns: 300 },
  )
})
