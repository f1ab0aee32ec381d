import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DeployError } from '../../../src/control-plane/deployers/deployer.ts'
import { createDeployments } from '../../../src/control-plane/records/create-deployments.ts'
import { partitionOf, readStatusEvent } from '../../../src/control-plane/records/stored.ts'
import { sleep } from '../../../src/core/time.ts'
import type { Store } from '../../../src/storage/index.ts'
import { DATABASES } from '../../kit/databases.ts'
import { type House, newDeployment, openHouse, REVISION } from '../support/house.ts'
import { mortalStore } from '../support/mortal-store.ts'
import { type ScriptedDeployer, scriptedDeployer, untilAborted } from '../support/scripted-deployer.ts'

/** The edges of the state machine. A lost process begins a phase again without an edge. */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  CREATING: ['QUEUED', 'CREATE_FAILED', 'SKIPPED', 'INTERRUPTED'],
  QUEUED: ['AWAITING_BUILD', 'AWAITING_DEPLOY', 'SKIPPED', 'INTERRUPTED'],
  AWAITING_BUILD: ['BUILDING', 'BUILD_FAILED', 'SKIPPED', 'INTERRUPTED'],
  BUILDING: ['AWAITING_DEPLOY', 'BUILD_FAILED', 'SKIPPED', 'INTERRUPTED'],
  AWAITING_DEPLOY: ['DEPLOYING', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED'],
  DEPLOYING: ['DEPLOYED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED'],
  DEPLOYED: ['UNKNOWN'],
  // It is started again, and that fails.
  UNKNOWN: ['DEPLOYED', 'UNKNOWN'],
}

const PHASES = ['prepare', 'build', 'deploy', 'promote'] as const
type Fate =
  | { readonly phase: (typeof PHASES)[number]; readonly what: 'fails' | 'hangs' | 'is slow' }
  | undefined

/** What happens to a deployment. Times are in milliseconds. */
type Command =
  | { readonly do: 'add'; readonly fate: Fate }
  | { readonly do: 'redeploy'; readonly at: number }
  | { readonly do: 'interrupt'; readonly at: number }
  | { readonly do: 'crash' }
  | { readonly do: 'restart' }
  | { readonly do: 'wait'; readonly ms: number }

const fate: fc.Arbitrary<Fate> = fc.option(
  fc.record({
    phase: fc.constantFrom(...PHASES),
    what: fc.constantFrom('fails' as const, 'hangs' as const, 'is slow' as const),
  }),
  { nil: undefined },
)
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), fate }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('redeploy' as const), at: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('interrupt' as const), at: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' } as const) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(12) }) },
)

describe.each(Object.entries(DATABASES))('any life of a deployment on %s', (name, open) => {
  test('follows the edges, builds a revision in one place at a time, and ends with the newest one that could be deployed', async () => {
    const { store } = await (await open())()
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(command, { minLength: 1, maxLength: 12 }), (isHost, commands) =>
        live(store, isHost, commands),
      ),
      { numRuns: name === 'memory' ? 60 : 15, endOnFailure: true },
    )
  })
})

interface Process {
  readonly house: House
  readonly deployer: ScriptedDeployer
  readonly die: () => Promise<unknown>
}

async function live(store: Store, isHost: boolean, commands: readonly Command[]): Promise<void> {
  const fates = new Map<string, Fate>()
  /** Phases under way in processes that live, such as `build r1`. */
  const underWay = new Map<string, number>()
  const servers = new Set<string>()
  const unrecorded = new Set<string>()
  const violations: string[] = []
  const processes: Process[] = []
  let isCalm = false

  function start(): Process {
    const mortal = mortalStore(store)
    const deployer = scriptedDeployer({ isHost, servers })
    let isDead = false
    // A lost process does nothing any more, also where an answer of the store was on its way to it.
    const live = () => {
      if (isDead) throw new Error('The process is lost.')
    }
    for (const other of ['stop', 'recover', 'destroy'] as const) deployer.script[other] = live
    for (const phase of PHASES)
      deployer.script[phase] = async (id, signal) => {
        live()
        const key = `${phase} ${id}`
        underWay.set(key, (underWay.get(key) ?? 0) + 1)
        if (underWay.get(key)! > 1) violations.push(`${key} is done twice at once`)
        try {
          const own = fates.get(id)
          if (isCalm || own?.phase !== phase) return
          if (own.what === 'fails') throw new DeployError('It fails.')
          // A promotion is not aborted: it only takes its time.
          if (own.what === 'is slow') await sleep(5)
          else await (phase === 'promote' ? sleep(10) : Promise.race([untilAborted(id, signal), calm]))
          live()
        } finally {
          if (!isDead) underWay.set(key, underWay.get(key)! - 1)
        }
      }
    const house = openHouse(deployer, mortal.store, { retryMs: 5 })
    house.worker.start()
    const process = {
      house,
      deployer,
      die() {
        isDead = true
        mortal.die()
        // Nobody else knows of a server that it had started and not yet recorded: see docs/roadmap.md.
        for (const phase of underWay.keys()) unrecorded.add(phase.split(' ')[1]!)
        underWay.clear()
        if (isHost) servers.clear()
        return mortal.idle()
      },
    }
    processes.push(process)
    return process
  }

  let calmDown = () => {}
  const calm = new Promise<void>((resolve) => {
    calmDown = resolve
  })
  let process = start()
  const deployments = createDeployments({ store, wake() {}, now: Date.now, isHosted: isHost })
  const deployment = await deployments.create(newDeployment(`d${crypto.randomUUID()}`), REVISION)
  const { id } = deployment
  const revisions = [deployment.latestRevisionId!]
  process.house.worker.wake()

  async function perform(given: Command): Promise<void> {
    if (given.do === 'wait') return sleep(given.ms)
    if (given.do === 'crash' || given.do === 'restart') {
      if (given.do === 'restart') await process.house.worker.close()
      else await crash(store, id, process)
      process = start()
      return
    }
    const at = 'at' in given ? revisions[given.at % revisions.length]! : ''
    if (given.do === 'interrupt') {
      await deployments.interrupt(deployment, at).catch((error: { status?: number }) => {
        if (error.status !== 400) throw error
      })
    } else {
      const builtBy = given.do === 'redeploy' ? await deployments.findRevision(deployment, at) : undefined
      const revisionId = crypto.randomUUID()
      fates.set(revisionId, given.do === 'add' ? given.fate : undefined)
      await deployments.update(id, (now) => ({
        deployment: now,
        revision: { ...REVISION, id: revisionId, builtBy },
      }))
      revisions.push(revisionId)
    }
    process.house.worker.wake()
  }

  try {
    for (const one of commands) await perform(one)
    isCalm = true
    calmDown()
    await expect
      .poll(
        async () => {
          process.house.worker.wake()
          const now = (await deployments.find(null, id))!
          const active =
            now.activeRevisionId === null
              ? undefined
              : await deployments.findRevision(now, now.activeRevisionId)
          const isServed = active === undefined || servers.has(active.id)
          return [now.status, now.pending, now.retiring, active?.status ?? 'DEPLOYED', isServed]
        },
        { timeout: 240_000 },
      )
      .toEqual(['READY', [], [], 'DEPLOYED', true])
    await check()
    await deployments.remove(deployment)
    process.house.worker.wake()
    await expect.poll(() => deployments.find(null, id)).toBeUndefined()
    expect([...servers].filter((one) => !unrecorded.has(one))).toEqual([])
  } finally {
    for (const { house } of processes) await house.worker.close()
  }

  async function check(): Promise<void> {
    expect(violations).toEqual([])
    const now = (await deployments.find(null, id))!
    const told = await statusesOf(store, id)
    let lastDeployed: string | undefined
    for (const revisionId of revisions) {
      const record = (await deployments.findRevision(now, revisionId))!
      const path = record.history.map(({ status }) => status)
      expect(told.get(revisionId)).toEqual(path)
      expect(path[0]).toBe('CREATING')
      for (const [at, status] of path.slice(1).entries()) expect(EDGES[path[at]!]).toContain(status)
      if (record.status !== 'UNKNOWN') expect(EDGES[record.status] ?? ['UNKNOWN']).toEqual(['UNKNOWN'])
      if (path.includes('DEPLOYED')) lastDeployed = revisionId
    }
    // Only the newest one may end for no reason of its own, and what was skipped was overtaken.
    const newest = (await deployments.findRevision(now, revisions.at(-1)!))!
    expect(newest.status).not.toBe('SKIPPED')
    expect(now.activeRevisionId ?? undefined).toBe(lastDeployed)
    const known = () => [...servers].filter((one) => one === lastDeployed || !unrecorded.has(one))
    await expect.poll(known).toEqual(lastDeployed === undefined ? [] : [lastDeployed])
    const errors = processes.flatMap(({ house }) => house.errors.map(String))
    expect(errors.filter((error) => !error.includes('The process is lost'))).toEqual([])
  }
}

/** The process is gone at once, and its lease has expired, also one that it was just taking. */
async function crash(store: Store, id: string, { die }: Process): Promise<void> {
  await die()
  const partition = partitionOf(id)
  const { lease } = await store.inspect(partition)
  if (lease) await store.commit(partition, { ops: [{ op: 'renew', token: lease.token, ttlMs: 0 }] })
}

async function statusesOf(store: Store, id: string): Promise<Map<string | undefined, string[]>> {
  const told = new Map<string | undefined, string[]>()
  for (let after = 0; ; ) {
    const batch = await store.read(partitionOf(id), { after })
    if (batch.count === 0) return told
    for (let at = 0; at < batch.count; at++) {
      const { revisionId, status } = readStatusEvent(
        batch.bytes.subarray(batch.offsets[at], batch.offsets[at + 1]),
      )
      told.set(revisionId, [...(told.get(revisionId) ?? []), status])
    }
    after = batch.first + batch.count - 1
  }
}
