import { DeployError, type DeployRequest, type FieldRefusal } from '../deployer.ts'
import type { KubernetesDeployerOptions, PodAllowances } from './options.ts'
import { type Given, type ResourceSpec, readResourceSpec } from './resource-spec.ts'

type Path = readonly (string | number)[]

/** The volumes of the Pod Security Standard `restricted`: none gives access to the node. */
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]
/** What a projected volume may always contain. A token for the API server needs an allowed account. */
const PROJECTED = ['configMap', 'downwardAPI', 'secret']

/** Container fields that do not affect the node. Fields that Kubernetes adds later are rejected. */
const CONTAINER = new Set([
  'args',
  'command',
  'env',
  'envFrom',
  'image',
  'imagePullPolicy',
  'name',
  'resizePolicy',
  'resources',
  'restartPolicy',
  'stdin',
  'stdinOnce',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'tty',
  'workingDir',
])
/** Fields that may contain a host. */
const HOOKS = ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const

/** Security context fields that are always allowed. An image without a user runs as root, too. */
const CONTEXT = new Set(['readOnlyRootFilesystem', 'runAsGroup', 'runAsNonRoot', 'runAsUser'])

/**
 * What a `resource_spec` requests beyond its pod: the node, its network, other machines, or the API server.
 * The Pod Security Standard `baseline` forbids it; for volumes and capabilities, `restricted` does.
 */
export function refusedOf(spec: ResourceSpec, allow: PodAllowances = {}): readonly FieldRefusal[] {
  const refused: FieldRefusal[] = []
  const account = spec.serviceAccountName
  const check: Check = {
    allow,
    account,
    refuse: (path, message) =>
      void refused.push({ path: ['source_config', 'resource_spec', ...path], message: `${message} ${ASK}` }),
  }
  if (account !== undefined && !allow.serviceAccounts?.includes(account))
    check.refuse(['service_account_name'], 'Deployments may not use this service account.')
  for (const [name, profile] of Object.entries(spec.annotations))
    if (/^container\.(apparmor|seccomp)\.|^seccomp\./.test(name) && !isProfile(profile))
      check.refuse(['annotations', name], 'The annotation removes a security profile of the node.')
  each(check, spec.volumes, ['volumes'], refuseVolume)
  each(check, spec.volumeMounts, ['volume_mounts'], refuseMount)
  each(check, spec.initContainers, ['init_containers'], refuseContainer)
  each(check, spec.sidecars, ['sidecars'], refuseContainer)
  return refused
}

interface Check {
  readonly allow: PodAllowances
  readonly account: string | undefined
  readonly refuse: (path: Path, message: string) => void
}

function refuseVolume(check: Check, { name: _, ...volume }: Given, path: Path): void {
  const { allow, account, refuse } = check
  for (const [type, value] of membersOf(volume)) {
    const isAllowed = VOLUMES.includes(type) || allow.volumes?.includes(type)
    if (!isAllowed) refuse([...path, type], `A volume of type ${type} gives access outside the pod.`)
    if (type !== 'projected') continue
    each(check, listOf(value, 'sources'), [...path, type, 'sources'], (_check, source, at) => {
      for (const [kind] of membersOf(source))
        if (!PROJECTED.includes(kind) && !(kind === 'serviceAccountToken' && account !== undefined))
          refuse([...at, kind], `A projected ${kind} contains credentials of the cluster.`)
    })
  }
}

function refuseMount({ refuse }: Check, mount: Given, path: Path): void {
  if (mount.mountPropagation === 'Bidirectional')
    refuse([...path, 'mountPropagation'], 'Mounts in the pod would propagate to the node.')
}

function refuseContainer(check: Check, container: Given, path: Path): void {
  for (const [member, value] of membersOf(container)) {
    const at = [...path, member]
    if (CONTAINER.has(member)) continue
    if (member === 'ports') each(check, listOf(container, member), at, refusePort)
    else if (member === 'volumeMounts') each(check, listOf(container, member), at, refuseMount)
    else if (member === 'securityContext') refuseContext(check, value, at)
    else if ((HOOKS as readonly string[]).includes(member)) refuseHosts(check, value, at)
    else check.refuse(at, `Deployments may not set the container member ${member}.`)
  }
}

function refusePort({ allow, refuse }: Check, port: Given, path: Path): void {
  if (allow.hostPorts) return
  for (const member of ['hostPort', 'hostIP'])
    if (port[member]) refuse([...path, member], 'It would use a port of the node.')
}

/** With a host in a probe, the node sends requests there. */
function refuseHosts(check: Check, value: unknown, path: Path): void {
  for (const [member, inner] of membersOf(value)) {
    if (member === 'host' && inner !== '')
      check.refuse([...path, member], 'The node would send requests to another host.')
    else if (member !== 'httpHeaders') refuseHosts(check, inner, [...path, member])
  }
}

function refuseContext(check: Check, context: unknown, path: Path): void {
  const { allow, refuse } = check
  if (allow.privileged) return
  for (const [member, value] of membersOf(context)) {
    const at = [...path, member]
    if (CONTEXT.has(member) || value === false) continue
    if (member === 'capabilities') refuseCapabilities(check, value, at)
    else if (member === 'seccompProfile' || member === 'appArmorProfile') {
      if (!PROFILES.includes(memberOf(value, 'type')))
        refuse([...at, 'type'], 'The security profile of the node is removed.')
    } else if (member !== 'procMount' || value !== 'Default')
      refuse(at, `${member} gives a container privileges on the node.`)
  }
}

function refuseCapabilities({ allow, refuse }: Check, value: unknown, path: Path): void {
  for (const [member, names] of membersOf(value)) {
    if (member === 'drop') continue
    const given = Array.isArray(names) ? names : [names]
    const added = given.filter((name) => name !== 'NET_BIND_SERVICE' && !allow.capabilities?.includes(name))
    if (added.length > 0)
      refuse([...path, member], `The capabilities ${added.join(', ')} give privileges on the node.`)
  }
}

const ASK = 'The options of the deployer define what is allowed.'
const PROFILES: readonly unknown[] = ['RuntimeDefault', 'Localhost', undefined]
const isProfile = (profile: string): boolean =>
  /^(runtime\/default|docker\/default|localhost\/.+)$/.test(profile)

const each = (
  check: Check,
  items: readonly Given[],
  path: Path,
  visit: (check: Check, item: Given, path: Path) => void,
): void =>
  items.forEach((item, index) => {
    visit(check, item, [...path, index])
  })

const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' ? Object.entries(value ?? {}).filter(([, member]) => member !== null) : []

const memberOf = (value: unknown, name: string): unknown => (Object(value) as Given)[name] ?? undefined

function listOf(value: unknown, name: string): readonly Given[] {
  const list = memberOf(value, name)
  return Array.isArray(list) ? list.map((item) => Object(item) as Given) : []
}

/** Why a deployment cannot be run on Kubernetes, or undefined. */
export function refusalOf(
  request: DeployRequest,
  options: Pick<KubernetesDeployerOptions, 'namespace' | 'namespaces' | 'allow'>,
): string | readonly FieldRefusal[] | undefined {
  try {
    if (request.source !== 'external_docker')
      throw new DeployError(
        `This control plane runs images: "source" must be "external_docker", with "source_revision_config.image_uri". It cannot build "${request.source}".`,
      )
    imageOf(request)
    namespaceOf(request, options)
    const refused = refusedOf(readResourceSpec(request.sourceConfig.resource_spec), options.allow)
    checkReferences(request)
    return refused.length > 0 ? refused : undefined
  } catch (error) {
    if (error instanceof DeployError) return error.message
    throw error
  }
}

export function imageOf({ sourceRevisionConfig: { image_uri } }: DeployRequest): string {
  // The registry validates the rest.
  if (typeof image_uri !== 'string' || !/^[A-Za-z0-9][\w./:@-]{0,1000}$/.test(image_uri))
    throw new DeployError(
      'source_revision_config.image_uri must name an image, such as "registry.example.com/agents/support:1.4".',
    )
  return image_uri
}

export function namespaceOf(
  { sourceConfig }: Pick<DeployRequest, 'sourceConfig'>,
  { namespace, namespaces = [] }: Pick<KubernetesDeployerOptions, 'namespace' | 'namespaces'>,
): string {
  const named = sourceConfig.listener_config?.k8s_namespace ?? namespace
  if (named !== namespace && !namespaces.includes(named as string))
    throw new DeployError(
      'source_config.listener_config.k8s_namespace must be one of the namespaces that this control plane deploys to.',
    )
  return named as string
}

/** The variable names were validated for every deployer. */
function checkReferences({ secretReferences }: DeployRequest): void {
  const wrong = secretReferences.find(
    ({ secret_name, secret_key }) =>
      !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(secret_name) ||
      !/^[-._A-Za-z0-9]{1,253}$/.test(secret_key),
  )
  if (wrong)
    throw new DeployError(
      `secret_references must name a Kubernetes Secret and one of its keys, for ${JSON.stringify(wrong.name)}.`,
    )
}
