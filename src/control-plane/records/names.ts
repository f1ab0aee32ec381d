import { uuidOf } from '../../core/ids.ts'
import { nameOf } from '../../core/principal.ts'
import { ConflictError, type Store } from '../../storage/index.ts'
import { refusal } from '../errors.ts'
import { load, put, unchanged } from './docs.ts'
import type { DeploymentRecord } from './records.ts'
import { loadDeployment, ownerKey } from './stored.ts'

/**
 * Names are unique for each owner. Each is its own partition, so that two deployments cannot take it at once.
 * A name is taken before its deployment is written, and released after the deployment is removed.
 */
const NAMES = 'deployment-names'

/** How long a name is reserved for a deployment that is not written yet, in milliseconds. */
const WRITTEN_WITHIN_MS = 60_000

interface NameRecord {
  readonly deploymentId: string
  readonly at: number
}

interface NameReservation {
  readonly partition: string
  readonly conflict: string
}

const nameKey = (owner: string | null, kind: 'name' | 'agent', ...parts: readonly string[]): string =>
  `deployment-name:${JSON.stringify([ownerKey(owner), kind, ...parts])}`

function namesOf({ owner, name, agent }: DeploymentRecord): readonly NameReservation[] {
  const conflict = `A deployment named '${name}' already exists. Choose another name, or update that one.`
  const named = { partition: nameKey(owner, 'name', name), conflict }
  if (agent === null) return [named]
  const { agent_id, environment } = agent
  return [
    named,
    {
      partition: nameKey(owner, 'agent', agent_id, environment),
      conflict: `A deployment of agent '${agent_id}' in environment '${environment}' already exists.`,
    },
  ]
}

/** The id of the deployment with this name. The deployment may not be written yet, or already be removed. */
export const idOfName = async (
  store: Store,
  owner: string | null,
  name: string,
): Promise<string | undefined> =>
  (await load<NameRecord>(store, nameKey(owner, 'name', name), NAMES, NAMES))?.record.deploymentId

/** Throws 409 if another deployment has one of the names. Names taken until then are released. */
export async function takeNames(store: Store, deployment: DeploymentRecord, now: number): Promise<void> {
  const names = namesOf(deployment)
  for (const { partition, conflict } of names) {
    if (await take(store, partition, { deploymentId: deployment.id, at: now })) continue
    await releaseNames(store, deployment)
    throw refusal(409, conflict)
  }
}

/** Does nothing for another deployment's name. */
export async function releaseNames(store: Store, deployment: DeploymentRecord): Promise<void> {
  for (const { partition } of namesOf(deployment)) {
    const read = await load<NameRecord>(store, partition, NAMES, NAMES)
    if (read?.record.deploymentId !== deployment.id) continue
    try {
      await store.commit(partition, { guards: [unchanged(NAMES, NAMES, read)], ops: [{ op: 'clear' }] })
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
    }
  }
}

async function take(store: Store, partition: string, record: NameRecord): Promise<boolean> {
  const read = await load<NameRecord>(store, partition, NAMES, NAMES)
  const known = read?.record
  if (known?.deploymentId === record.deploymentId) return true
  if (known && (await isInUse(store, partition, known, record.at))) return false
  try {
    await store.commit(partition, {
      guards: [unchanged(NAMES, NAMES, read)],
      ops: [put(NAMES, NAMES, record)],
    })
    return true
  } catch (error) {
    // Another request was first, possibly the same one sent twice.
    if (error instanceof ConflictError) return take(store, partition, record)
    throw error
  }
}

async function isInUse(store: Store, partition: string, { deploymentId, at }: NameRecord, now: number) {
  if (now - at < WRITTEN_WITHIN_MS) return true
  const holder = await loadDeployment(store, deploymentId)
  return holder !== undefined && namesOf(holder.record).some((name) => name.partition === partition)
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The API's `tenant_id`. An owner whose name is not a UUID gets one. */
export const tenantIdOf = async (owner: string | null): Promise<string> =>
  uuidOfName(owner === null ? null : nameOf(owner))

const uuidOfName = async (name: string | null): Promise<string> =>
  name !== null && UUID.test(name) ? name.toLowerCase() : uuidOf(name)
