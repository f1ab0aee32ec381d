import type { FieldRefusal } from '../deployer.ts'
import type { PodAllowances } from './options.ts'
import type { Given, ResourceSpec } from './resource-spec.ts'

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
  const refuse = (path: Path, message: string): void =>
    void refused.push({ path: ['source_config', 'resource_spec', ...path], message: `${message} ${ASK}` })
  const account = spec.serviceAccountName

  if (account !== undefined && !allow.serviceAccounts?.includes(account))
    refuse(['service_account_name'], 'Deployments may not use this service account.')
  for (const [name, profile] of Object.entries(spec.annotations))
    if (/^container\.(apparmor|seccomp)\.|^seccomp\./.test(name) && !isProfile(profile))
      refuse(['annotations', name], 'The annotation removes a security profile of the node.')
  each(spec.volumes, ['volumes'], refuseVolume)
  each(spec.volumeMounts, ['volume_mounts'], refuseMount)
  each(spec.initContainers, ['init_containers'], refuseContainer)
  each(spec.sidecars, ['sidecars'], refuseContainer)
  return refused

  function refuseVolume({ name: _, ...volume }: Given, path: Path): void {
    for (const [type, value] of membersOf(volume)) {
      const isAllowed = VOLUMES.includes(type) || allow.volumes?.includes(type)
      if (!isAllowed) refuse([...path, type], `A volume of type ${type} gives access outside the pod.`)
      if (type !== 'projected') continue
      each(listOf(value, 'sources'), [...path, type, 'sources'], (source, at) => {
        for (const [kind] of membersOf(source))
          if (!PROJECTED.includes(kind) && !(kind === 'serviceAccountToken' && account !== undefined))
            refuse([...at, kind], `A projected ${kind} contains credentials of the cluster.`)
      })
    }
  }

  function refuseMount(mount: Given, path: Path): void {
    if (mount.mountPropagation === 'Bidirectional')
      refuse([...path, 'mountPropagation'], 'Mounts in the pod would propagate to the node.')
  }

  function refuseContainer(container: Given, path: Path): void {
    for (const [member, value] of membersOf(container)) {
      const at = [...path, member]
      if (CONTAINER.has(member)) continue
      if (member === 'ports') each(listOf(container, member), at, refusePort)
      else if (member === 'volumeMounts') each(listOf(container, member), at, refuseMount)
      else if (member === 'securityContext') refuseContext(value, at)
      else if ((HOOKS as readonly string[]).includes(member)) refuseHosts(value, at)
      else refuse(at, `Deployments may not set the container member ${member}.`)
    }
  }

  function refusePort(port: Given, path: Path): void {
    if (allow.hostPorts) return
    for (const member of ['hostPort', 'hostIP'])
      if (port[member]) refuse([...path, member], 'It would use a port of the node.')
  }

  /** With a host in a probe, the node sends requests there. */
  function refuseHosts(value: unknown, path: Path): void {
    for (const [member, inner] of membersOf(value)) {
      if (member === 'host' && inner !== '')
        refuse([...path, member], 'The node would send requests to another host.')
      else if (member !== 'httpHeaders') refuseHosts(inner, [...path, member])
    }
  }

  function refuseContext(context: unknown, path: Path): void {
    if (allow.privileged) return
    for (const [member, value] of membersOf(context)) {
      const at = [...path, member]
      if (CONTEXT.has(member) || value === false) continue
      if (member === 'capabilities') refuseCapabilities(value, at)
      else if (member === 'seccompProfile' || member === 'appArmorProfile') {
        if (!PROFILES.includes(memberOf(value, 'type')))
          refuse([...at, 'type'], 'The security profile of the node is removed.')
      } else if (member !== 'procMount' || value !== 'Default')
        refuse(at, `${member} gives a container privileges on the node.`)
    }
  }

  function refuseCapabilities(value: unknown, path: Path): void {
    for (const [member, names] of membersOf(value)) {
      if (member === 'drop') continue
      const given = Array.isArray(names) ? names : [names]
      const added = given.filter((name) => name !== 'NET_BIND_SERVICE' && !allow.capabilities?.includes(name))
      if (added.length > 0)
        refuse([...path, member], `The capabilities ${added.join(', ')} give privileges on the node.`)
    }
  }
}

const ASK = 'The options of the deployer define what is allowed.'
const PROFILES: readonly unknown[] = ['RuntimeDefault', 'Localhost', undefined]
const isProfile = (profile: string): boolean =>
  /^(runtime\/default|docker\/default|localhost\/.+)$/.test(profile)

const each = (items: readonly Given[], path: Path, visit: (item: Given, path: Path) => void): void =>
  items.forEach((item, index) => {
    visit(item, [...path, index])
  })

/** The members that are not null. */
const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' ? Object.entries(value ?? {}).filter(([, member]) => member !== null) : []

const memberOf = (value: unknown, name: string): unknown => (Object(value) as Given)[name] ?? undefined

function listOf(value: unknown, name: string): readonly Given[] {
  const list = memberOf(value, name)
  return Array.isArray(list) ? list.map((item) => Object(item) as Given) : []
}
