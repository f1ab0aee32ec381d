import { expect, test } from 'vitest'
import { kubernetesDeployer } from '../../../../src/control-plane/deployers/kubernetes/kubernetes.ts'
import type { PodAllowances } from '../../../../src/control-plane/deployers/kubernetes/options.ts'
import { created, DOCKER, serve } from '../../support/served.ts'
import { contextOf } from './drive.ts'

const requests: unknown[] = []
const client = async (request: unknown) => {
  requests.push(request)
  throw new Error('No request is expected.')
}
const plane = (allow?: PodAllowances) => {
  const deployer = kubernetesDeployer({ namespace: 'agents', client: client as never, allow })
  return { ...serve({ deployer }), kubernetes: deployer }
}
const bodyOf = (resource_spec: object) => ({ ...DOCKER, source_config: { resource_spec } })

const container = (more: object) => ({ name: 'one', image: 'one:1', ...more })
const context = (securityContext: object) => ({ sidecars: [container({ securityContext })] })

/** What reaches out of a pod, where it stands, and what allows it. */
const REACHING: readonly (readonly [spec: object, path: string, allow?: PodAllowances])[] = [
  [{ volumes: [{ name: 'a', hostPath: { path: '/' } }] }, 'volumes.0.hostPath', { volumes: ['hostPath'] }],
  [{ volumes: [{ name: 'a', nfs: { server: 'x', path: '/' } }] }, 'volumes.0.nfs', { volumes: ['nfs'] }],
  [{ volumes: [{ name: 'a', iscsi: {} }] }, 'volumes.0.iscsi', { volumes: ['iscsi'] }],
  [{ volumes: [{ name: 'a', HostPath: { path: '/' } }] }, 'volumes.0.HostPath'],
  [
    {
      volumes: [
        { name: 'a', projected: { sources: [{ secret: {} }, { serviceAccountToken: { path: 't' } }] } },
      ],
    },
    'volumes.0.projected.sources.1.serviceAccountToken',
  ],
  [{ service_account_name: 'admin' }, 'service_account_name', { serviceAccounts: ['admin'] }],
  [
    { annotations: { 'container.apparmor.security.beta.kubernetes.io/agent': 'unconfined' } },
    'annotations.container.apparmor.security.beta.kubernetes.io/agent',
  ],
  [context({ privileged: true }), 'sidecars.0.securityContext.privileged', { privileged: true }],
  [
    context({ allowPrivilegeEscalation: true }),
    'sidecars.0.securityContext.allowPrivilegeEscalation',
    { privileged: true },
  ],
  [context({ procMount: 'Unmasked' }), 'sidecars.0.securityContext.procMount', { privileged: true }],
  [
    context({ seccompProfile: { type: 'Unconfined' } }),
    'sidecars.0.securityContext.seccompProfile.type',
    { privileged: true },
  ],
  [
    context({ seLinuxOptions: { type: 'spc_t' } }),
    'sidecars.0.securityContext.seLinuxOptions',
    { privileged: true },
  ],
  [
    context({ windowsOptions: { hostProcess: true } }),
    'sidecars.0.securityContext.windowsOptions',
    { privileged: true },
  ],
  [context({ Privileged: true }), 'sidecars.0.securityContext.Privileged', { privileged: true }],
  [
    context({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'SYS_ADMIN'] } }),
    'sidecars.0.securityContext.capabilities.add',
    { capabilities: ['SYS_ADMIN'] },
  ],
  [
    { init_containers: [container({ securityContext: { privileged: true } })] },
    'init_containers.0.securityContext.privileged',
    { privileged: true },
  ],
  [
    { sidecars: [container({ ports: [{ containerPort: 1, hostPort: 80 }] })] },
    'sidecars.0.ports.0.hostPort',
    { hostPorts: true },
  ],
  [
    { sidecars: [container({ livenessProbe: { httpGet: { host: '169.254.169.254', port: 80 } } })] },
    'sidecars.0.livenessProbe.httpGet.host',
  ],
  [
    {
      sidecars: [
        container({ volumeMounts: [{ name: 'a', mountPath: '/a', mountPropagation: 'Bidirectional' }] }),
      ],
    },
    'sidecars.0.volumeMounts.0.mountPropagation',
  ],
  [{ sidecars: [container({ SecurityContext: { privileged: true } })] }, 'sidecars.0.SecurityContext'],
  [{ sidecars: [container({ volumeDevices: [] })] }, 'sidecars.0.volumeDevices'],
]

test.each(REACHING.map(([spec, path, allow]) => ({ spec, path, allow })))(
  '$spec is refused with 422 unless the deployer allows it',
  async ({ spec, path, allow }) => {
    const { ask } = plane()
    const refused = await ask('POST', '/v2/deployments', bodyOf(spec))
    expect(refused.status).toBe(422)
    expect(refused.body.detail).toHaveLength(1)
    const [problem] = refused.body.detail
    expect(problem).toMatchObject({ type: 'value_error', msg: expect.stringMatching(/^Value error, /) })
    expect(problem.loc.join('.')).toBe(`body.source_config.resource_spec.${path}`)
    expect(problem.ctx.error).toContain('The options of the deployer define what is allowed.')
    if (allow) expect((await plane(allow).ask('POST', '/v2/deployments', bodyOf(spec))).status).toBe(201)
  },
)

test('a pod that keeps to itself is taken with all of it', async () => {
  const spec = {
    volumes: [
      { name: 'config', configMap: { name: 'c' } },
      { name: 'tmp', emptyDir: {} },
      { name: 'claim', persistentVolumeClaim: { claimName: 'p' } },
      { name: 'all', projected: { sources: [{ configMap: { name: 'c' } }, { downwardAPI: { items: [] } }] } },
    ],
    volume_mounts: [{ name: 'tmp', mountPath: '/tmp', mountPropagation: 'None' }],
    init_containers: [container({ command: ['migrate'], env: [{ name: 'A', value: 'b' }], hostPath: null })],
    sidecars: [
      {
        name: 'two',
        image: 'two:1',
        ports: [{ containerPort: 5432, hostPort: 0 }],
        readinessProbe: { httpGet: { path: '/', port: 80, httpHeaders: [{ name: 'host', value: 'x' }] } },
        securityContext: {
          runAsUser: 0,
          runAsNonRoot: false,
          privileged: false,
          allowPrivilegeEscalation: false,
          procMount: 'Default',
          readOnlyRootFilesystem: true,
          seccompProfile: { type: 'RuntimeDefault' },
          capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
        },
      },
    ],
  }
  const { status, body } = await plane().ask('POST', '/v2/deployments', bodyOf(spec))
  expect([status, body.detail]).toEqual([201, undefined])
  // What the vendor's schemas do not declare is kept, and not swallowed.
  expect(body.source_config.resource_spec.sidecars[0].ports).toEqual([{ containerPort: 5432, hostPort: 0 }])
})

test('containers and volumes have the schemas of the API', async () => {
  const { status, body } = await plane().ask('POST', '/v2/deployments', {
    ...bodyOf({
      volumes: [{ name: 1, hostPath: 'x' }, 'a'],
      volume_mounts: [{ readOnly: 'perhaps' }],
      sidecars: [
        { name: 'a' },
        container({ resources: { limits: { cpu: 1 } }, env: [{ value: 'x' }], args: 'x' }),
      ],
    }),
  })
  expect(status).toBe(422)
  expect(
    body.detail.map(({ type, loc }: { type: string; loc: unknown[] }) => [type, loc.slice(3).join('.')]),
  ).toEqual([
    ['string_type', 'volumes.0.name'],
    ['model_attributes_type', 'volumes.1'],
    ['bool_parsing', 'volume_mounts.0.readOnly'],
    ['missing', 'sidecars.0.image'],
    ['list_type', 'sidecars.1.args'],
    ['missing', 'sidecars.1.env.0.name'],
    ['string_type', 'sidecars.1.resources.limits.cpu'],
  ])
})

test('a PATCH is held to it, and so is what was stored before', async () => {
  const served = plane()
  const { id } = await created(served, DOCKER)
  const reaching = { volumes: [{ name: 'a', hostPath: { path: '/' } }] }
  const patch = { source_config: { resource_spec: reaching } }
  expect((await served.ask('PATCH', `/v2/deployments/${id}`, patch)).status).toBe(422)
  expect((await served.ask('POST', `/v2/deployments/${id}/revisions`, patch)).status).toBe(422)
  await expect(served.kubernetes.deploy(contextOf({ number: 1, resourceSpec: reaching }))).rejects.toThrow(
    'source_config.resource_spec.volumes.0.hostPath: A volume of type hostPath gives access outside the pod.',
  )
  expect(requests).toEqual([])
})
