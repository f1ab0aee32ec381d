import { afterEach, describe, expect, test } from 'vitest'
import { DeployError } from '../../../src/control-plane/deployers/deployer.ts'
import { createLogs } from '../../../src/control-plane/logs/create-logs.ts'
import type { LogPlace } from '../../../src/control-plane/logs/logs.ts'
import { createDeployments } from '../../../src/control-plane/records/create-deployments.ts'
import { partitionOf } from '../../../src/control-plane/records/stored.ts'
import { memoryStore } from '../../../src/storage/index.ts'
import { type House, newDeployment, openHouse, REVISION } from '../support/house.ts'
import { mortalStore } from '../support/mortal-store.ts'
import { scriptedDeployer, untilAborted } from '../support/scripted-deployer.ts'

const opened: House[] = []
const open = (...given: Parameters<typeof openHouse>): House => {
  const house = openHouse(...given)
  opened.push(house)
  return house
}
afterEach(async () => {
  for (const { worker, errors } of opened.splice(0)) {
    await worker.close()
    expect(errors).toEqual([])
  }
})

async function revisionOf({ deployments }: House, id: string, revisionId?: string) {
  const deployment = await deployments.find(null, id)
  const revision =
    deployment && (await deployments.findRevision(deployment, revisionId ?? deployment.latestRevisionId!))
  return { deployment, revision }
}

const statusOf = async (house: House, id: string, revisionId?: string) =>
  (await revisionOf(house, id, revisionId)).revision?.status

const linesOf = async ({ logs }: House, place: LogPlace) =>
  (await logs.read(place, { order: 'asc', limit: 100 })).lines.map(
    ({ level, message }) => `${level} ${message}`,
  )

const add = (house: House, id: string) =>
  house.deployments.update(id, (deployment) => ({ deployment, revision: REVISION }))

test('a revision passes through all statuses in order, and its server serves', async () => {
  const deployer = scriptedDeployer()
  const house = open(deployer)
  const given = newDeployment()
  const secrets = await house.secrets.seal(partitionOf(given.id), [{ name: 'KEY', value: 'very secret' }])
  const { id } = await house.deployments.create(given, { ...REVISION, secrets })
  await expect.poll(() => statusOf(house, id)).toBe('DEPLOYED')
  const { deployment, revision } = await revisionOf(house, id)
  expect(revision?.history.map(({ status }) => status)).toEqual([
    'CREATING',
    'QUEUED',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
  ])
  expect(deployment).toMatchObject({ status: 'READY', activeRevisionId: revision?.id, pending: [] })
  expect(deployment?.url).toBe(revision?.running?.url)
  expect(deployment?.sourceRevisionConfig.repo_commit_sha).toBe(`sha of ${revision?.id}`)
  expect(deployer.serving.get(id)).toBe(revision?.id)
  const built = { type: 'build', deploymentId: id, revisionId: revision!.id } as const
  expect(await linesOf(house, built)).toEqual(['INFO prepares with ***', 'INFO builds'])
})

test('who sees that a build is over finds all its lines, on any instance', async () => {
  const deployer = scriptedDeployer()
  const store = memoryStore()
  const house = open(deployer, store)
  const other = createLogs({ store })
  let lines: string[] | undefined
  deployer.script.deploy = async (revisionId) => {
    const place = { type: 'build', deploymentId: given.id, revisionId } as const
    const page = await other.read(place, { order: 'asc', limit: 10 })
    lines = page.lines.map(({ message }) => message)
  }
  const given = newDeployment()
  const { id } = await house.deployments.create(given, REVISION)
  await expect.poll(() => statusOf(house, id)).toBe('DEPLOYED')
  expect(lines).toEqual(['prepares with ', 'builds'])
  await other.close()
})

test('a deployment without a revision becomes ready', async () => {
  const house = open(scriptedDeployer())
  const { id } = await house.deployments.create(newDeployment(), undefined)
  await expect.poll(async () => (await house.deployments.find(null, id))?.status).toBe('READY')
})

test('a newer revision stops the one under way, and those that waited are skipped', async () => {
  const deployer = scriptedDeployer()
  const house = open(deployer)
  deployer.script.build = untilAborted
  const { id, latestRevisionId: first } = await house.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => statusOf(house, id)).toBe('BUILDING')
  const { latestRevisionId: second } = await add(house, id)
  deployer.script.build = () => {}
  await add(house, id)
  await expect.poll(() => statusOf(house, id)).toBe('DEPLOYED')
  expect(await statusOf(house, id, first!)).toBe('SKIPPED')
  expect(['SKIPPED', 'DEPLOYED']).toContain(await statusOf(house, id, second!))
  expect(deployer.servers.size).toBe(1)
})

test('the server before is stopped once the new one serves', async () => {
  const deployer = scriptedDeployer()
  const house = open(deployer)
  const { id, latestRevisionId: first } = await house.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => statusOf(house, id)).toBe('DEPLOYED')
  await add(house, id)
  await expect.poll(() => statusOf(house, id)).toBe('DEPLOYED')
  await expect.poll(() => [...deployer.servers]).not.toContain(first)
  await expect.poll(async () => (await house.deployments.find(null, id))?.retiring).toEqual([])
})

describe.each([
  ['prepare', 'CREATE_FAILED', 'build'],
  ['build', 'BUILD_FAILED', 'build'],
  ['deploy', 'DEPLOY_FAILED', 'deploy'],
  ['promote', 'DEPLOY_FAILED', 'deploy'],
] as const)('a failure of %s', (phase, status, log) => {
  test('keeps the old revision serving, and the log says why', async () => {
    const deployer = scriptedDeployer()
    const house = open(deployer)
    const { id, latestRevisionId: first } = await house.deployments.create(newDeployment(), REVISION)
    await expect.poll(() => statusOf(house, id)).toBe('DEPLOYED')
    deployer.script[phase] = () => {
      throw new DeployError('npm ci ended with 1.')
    }
    await add(house, id)
    await expect.poll(() => statusOf(house, id)).toBe(status)
    const { deployment, revision } = await revisionOf(house, id)
    expect(revision?.history.at(-1)?.reason).toBe('npm ci ended with 1.')
    expect(deployment?.activeRevisionId).toBe(first)
    expect(deployer.serving.get(id)).toBe(first)
    expect([...deployer.servers]).toEqual([first])
    const place = { type: log, deploymentId: id, revisionId: revision!.id }
    expect((await linesOf(house, place)).at(-1)).toBe(`ERROR ${status}: npm ci ended with 1.`)
  })

  test('that nobody has foreseen shows an error id and not its message', async () => {
    const deployer = scriptedDeployer()
    const house = open(deployer)
    deployer.script[phase] = () => {
      throw new Error('password 1234')
    }
    const { id } = await house.deployments.create(newDeployment(), REVISION)
    await expect.poll(() => statusOf(house, id)).toBe(status)
    const { revision } = await revisionOf(house, id)
    expect(revision?.history.at(-1)?.reason).toMatch(/^The deployer failed \(error id [-0-9a-f]{36}\)\.$/)
    expect(house.errors.splice(0)).toHaveLength(1)
  })
})

test.each([
  ['prepare', 'CREATING'],
  ['build', 'BUILDING'],
  ['deploy', 'DEPLOYING'],
] as const)('an interrupt stops %s', async (phase, status) => {
  const deployer = scriptedDeployer()
  const house = open(deployer)
  deployer.script[phase] = untilAborted
  const created = await house.deployments.create(newDeployment(), REVISION)
  const { id, latestRevisionId } = created
  await expect.poll(() => deployer.underWay.has(`${phase} ${latestRevisionId}`)).toBe(true)
  expect(await statusOf(house, id)).toBe(status)
  await house.deployments.interrupt(created, latestRevisionId!)
  await expect.poll(() => statusOf(house, id)).toBe('INTERRUPTED')
  expect(deployer.underWay.size).toBe(0)
  expect(deployer.servers.size).toBe(0)
  await expect(house.deployments.interrupt(created, latestRevisionId!)).rejects.toMatchObject({ status: 400 })
})

test('a phase that outlasts its time fails, also where the deployer does not stop', async () => {
  const deployer = scriptedDeployer()
  const house = open(deployer, memoryStore(), { buildMs: 100, graceMs: 100 })
  let end = () => {}
  deployer.script.build = () => new Promise((resolve) => (end = resolve))
  const { id } = await house.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => statusOf(house, id)).toBe('BUILD_FAILED')
  const { revision } = await revisionOf(house, id)
  expect(revision?.history.at(-1)?.reason).toMatch(/longer than/)
  end()
})

test('a server that comes too late is stopped', async () => {
  const deployer = scriptedDeployer()
  const house = open(deployer, memoryStore(), { deployMs: 100, graceMs: 100 })
  let end = () => {}
  deployer.script.deploy = () => new Promise((resolve) => (end = resolve))
  const { id, latestRevisionId } = await house.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => statusOf(house, id)).toBe('DEPLOY_FAILED')
  end()
  await expect.poll(() => deployer.calls).toContain(`stop ${latestRevisionId}`)
  expect(deployer.servers.size).toBe(0)
})

test('a redeploy builds nothing', async () => {
  const deployer = scriptedDeployer()
  const house = open(deployer)
  const { id } = await house.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => statusOf(house, id)).toBe('DEPLOYED')
  const builtBy = (await revisionOf(house, id)).revision!
  deployer.calls.length = 0
  await house.deployments.update(id, (deployment) => ({ deployment, revision: { ...REVISION, builtBy } }))
  await expect.poll(() => statusOf(house, id)).toBe('DEPLOYED')
  const { revision } = await revisionOf(house, id)
  expect(revision?.history.map(({ status }) => status)).toEqual([
    'CREATING',
    'QUEUED',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
  ])
  expect(deployer.calls).toEqual([`deploy ${revision?.id}`, `promote ${revision?.id}`, `stop ${builtBy.id}`])
})

describe('a deletion', () => {
  test('stops what serves, removes what is left, and frees the name', async () => {
    const deployer = scriptedDeployer()
    const house = open(deployer)
    const created = await house.deployments.create(newDeployment(), REVISION)
    await expect.poll(() => statusOf(house, created.id)).toBe('DEPLOYED')
    await expect(house.deployments.create(newDeployment(), undefined)).rejects.toMatchObject({ status: 409 })
    await house.deployments.remove(created)
    await expect.poll(() => house.deployments.find(null, created.id)).toBeUndefined()
    expect(deployer.servers.size).toBe(0)
    expect(deployer.calls.at(-1)).toBe(`destroy ${created.id}`)
    expect(await house.deployments.countOfType(null, 'dev')).toBe(0)
    await house.deployments.create(newDeployment(), undefined)
  })

  test('stops a build under way', async () => {
    const deployer = scriptedDeployer()
    const house = open(deployer)
    deployer.script.build = untilAborted
    const created = await house.deployments.create(newDeployment(), REVISION)
    await expect.poll(() => statusOf(house, created.id)).toBe('BUILDING')
    await house.deployments.remove(created)
    await expect.poll(() => house.deployments.find(null, created.id)).toBeUndefined()
    expect(deployer.underWay.size).toBe(0)
  })

  test('is tried again where the deployer fails', async () => {
    const deployer = scriptedDeployer()
    const house = open(deployer)
    const created = await house.deployments.create(newDeployment(), REVISION)
    await expect.poll(() => statusOf(house, created.id)).toBe('DEPLOYED')
    let failures = 0
    deployer.script.destroy = () => {
      if (++failures < 3) throw new Error('busy')
    }
    await house.deployments.remove(created)
    await expect.poll(() => house.deployments.find(null, created.id)).toBeUndefined()
    expect(house.errors.splice(0)).toHaveLength(2)
  })
})

describe('a restart', () => {
  test('goes on with the phase that was under way, on another worker', async () => {
    const store = memoryStore()
    const first = scriptedDeployer()
    first.script.build = untilAborted
    const one = open(first, store)
    const { id } = await one.deployments.create(newDeployment(), REVISION)
    await expect.poll(() => statusOf(one, id)).toBe('BUILDING')
    await one.worker.close()
    expect(await statusOf(one, id)).toBe('BUILDING')
    const second = scriptedDeployer()
    const other = open(second, store)
    other.worker.start()
    await expect.poll(() => statusOf(other, id)).toBe('DEPLOYED')
    expect(second.calls.map((call) => call.split(' ')[0])).toEqual(['build', 'deploy', 'promote'])
  })

  test('starts what served again, and says so where it cannot', async () => {
    const store = memoryStore()
    const one = open(scriptedDeployer({ isHost: true }), store)
    const { id, latestRevisionId } = await one.deployments.create(newDeployment(), REVISION)
    await expect.poll(() => statusOf(one, id)).toBe('DEPLOYED')
    await one.worker.close()
    const deployer = scriptedDeployer({ isHost: true })
    let isBroken = true
    deployer.script.recover = () => {
      if (isBroken) throw new DeployError('The port is taken.')
    }
    const other = open(deployer, store)
    other.worker.start()
    await expect.poll(() => statusOf(other, id)).toBe('UNKNOWN')
    isBroken = false
    await expect.poll(() => statusOf(other, id)).toBe('DEPLOYED')
    expect([...deployer.servers]).toEqual([latestRevisionId])
    expect(deployer.serving.get(id)).toBe(latestRevisionId)
  })

  test('a phase whose process is lost three times fails', async () => {
    const store = memoryStore()
    const times = { leaseMs: 60 }
    const lost: House[] = []
    let id = ''
    for (let at = 0; at < 3; at++) {
      const deployer = scriptedDeployer()
      // A process that is lost neither stops nor renews: its commits are refused.
      deployer.script.build = () => new Promise(() => {})
      const dead = mortalStore(store)
      const house = openHouse(deployer, dead.store, times)
      lost.push(house)
      if (at === 0) id = (await house.deployments.create(newDeployment(), REVISION)).id
      else house.worker.start()
      await expect.poll(() => deployer.underWay.size).toBe(1)
      dead.die()
      await new Promise((resolve) => setTimeout(resolve, 80))
    }
    const house = open(scriptedDeployer(), store, times)
    house.worker.start()
    await expect.poll(() => statusOf(house, id)).toBe('BUILD_FAILED')
    expect((await revisionOf(house, id)).revision?.history.at(-1)?.reason).toMatch(/lost 3 times/)
    await Promise.all(lost.map(({ worker }) => worker.close()))
  })
})

test('reconcile does all that is due, and settles when it is done', async () => {
  const deployer = scriptedDeployer()
  const store = memoryStore()
  const asleep = createDeployments({ store, wake: () => {}, now: Date.now, isHosted: false })
  const made = await Promise.all(['one', 'two'].map((name) => asleep.create(newDeployment(name), REVISION)))
  const { worker } = open(deployer, store)
  expect(await worker.reconcile()).toEqual({ deployments: 2 })
  for (const { id, latestRevisionId } of made)
    expect(await asleep.find(null, id)).toMatchObject({ activeRevisionId: latestRevisionId, pending: [] })
  expect(await worker.reconcile()).toEqual({ deployments: 0 })
})

test('a server whose deployment another process has taken is stopped here', async () => {
  const store = memoryStore()
  const dead = mortalStore(store)
  const deployer = scriptedDeployer({ isHost: true })
  const one = openHouse(deployer, dead.store, { leaseMs: 1_000 })
  const { id, latestRevisionId } = await one.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => statusOf(one, id)).toBe('DEPLOYED')
  dead.die()
  const second = scriptedDeployer({ isHost: true })
  const other = open(second, store, { leaseMs: 1_000 })
  await expect
    .poll(async () => {
      other.worker.wake()
      return [...second.servers]
    })
    .toEqual([latestRevisionId])
  dead.revive()
  await expect
    .poll(() => {
      one.worker.wake()
      return deployer.servers.size
    })
    .toBe(0)
  await one.worker.close()
})

test('after a restart servers come back a few at a time, and until then their revisions say so at addresses that are held', async () => {
  const store = memoryStore()
  const first = open(scriptedDeployer({ isHost: true }), store)
  const ids = await Promise.all(
    Array.from(
      { length: 7 },
      async (_, index) => (await first.deployments.create(newDeployment(`d${index}`), REVISION)).id,
    ),
  )
  await expect
    .poll(async () => Promise.all(ids.map((id) => statusOf(first, id))))
    .toEqual(ids.map(() => 'DEPLOYED'))
  await first.worker.close()

  const scripted = scriptedDeployer({ isHost: true })
  const held = new Set<string>()
  const waiting: (() => void)[] = []
  let most = 0
  const recovering = () => [...scripted.underWay].filter((call) => call.startsWith('recover')).length
  scripted.script.recover = async () => {
    most = Math.max(most, recovering())
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const second = open(
    {
      ...scripted,
      async standBy({ deploymentId }, running) {
        held.add(deploymentId)
        return running
      },
    },
    store,
  )
  second.worker.start()
  const states = () =>
    Promise.all(
      ids.map(async (id) => {
        const { revision } = await revisionOf(second, id)
        return [revision?.status, revision?.history.at(-1)?.reason]
      }),
    )
  await expect.poll(states).toEqual(ids.map(() => ['UNKNOWN', 'Its server is restarting.']))
  await expect.poll(() => held.size).toBe(ids.length)
  await expect
    .poll(async () => {
      for (const goOn of waiting.splice(0)) goOn()
      return (await states()).map(([status]) => status)
    })
    .toEqual(ids.map(() => 'DEPLOYED'))
  expect(most).toBe(2)
})

test('an instance takes back at its start what its lost process held, and nobody else does', async () => {
  const store = memoryStore()
  const lost = mortalStore(store)
  const times = { leaseMs: 60_000 }
  const first = openHouse(scriptedDeployer({ isHost: true }), lost.store, times, 'one')
  const { id } = await first.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => statusOf(first, id)).toBe('DEPLOYED')
  lost.die()
  await lost.idle()

  const stranger = scriptedDeployer({ isHost: true })
  const other = open(stranger, store, times, 'two')
  await other.worker.reconcile()
  expect(stranger.calls).toEqual([])
  const again = scriptedDeployer({ isHost: true })
  const second = open(again, store, times, 'one')
  await second.worker.reconcile()
  expect(again.calls.map((call) => call.split(' ')[0])).toEqual(['recover'])
  expect(await statusOf(second, id)).toBe('DEPLOYED')
  await first.worker.close()
})
