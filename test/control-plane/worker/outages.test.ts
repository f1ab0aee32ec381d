import { afterEach, describe, expect, test } from 'vitest'
import { createDeployments } from '../../../src/control-plane/records/create-deployments.ts'
import { partitionOf } from '../../../src/control-plane/records/stored.ts'
import { sleep } from '../../../src/core/time.ts'
import { memoryStore, type Store } from '../../../src/storage/index.ts'
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
  for (const { worker } of opened.splice(0)) await worker.close()
})

const AWAY = 'The store is away.'

/** Fails where `fails` says so: before a call has taken effect, or with its answer lost. */
function unreliable(store: Store, fails: (call: string) => false | 'before' | 'after'): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const value = target[name]
      if (typeof value !== 'function' || name === 'watch') return value
      return async (...args: unknown[]) => {
        const how = fails(name)
        if (how === 'before') throw new Error(AWAY)
        const result = await (value as (...given: unknown[]) => unknown).apply(target, args)
        if (how === 'after') throw new Error(AWAY)
        return result
      }
    },
  })
}

/** Numbers from 0 to 1 that are the same in each run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe.each([
  ['servers of this process', true],
  ['servers elsewhere', false],
])('a store that fails one call in six, with %s', (_, isHost) => {
  test.each([1, 2, 3, 4])('leaves each revision in its right status (seed %i)', async (seed) => {
    const next = random(seed * 7_919)
    const store = memoryStore()
    const deployer = scriptedDeployer({ isHost })
    const house = open(
      deployer,
      unreliable(store, () => next() < 1 / 6 && (next() < 0.5 ? 'before' : 'after')),
      { leaseMs: 1_000, retryMs: 5 },
    )
    const { worker, errors } = house
    worker.start()
    // Requests reach the store.
    const requests = createDeployments({ store, wake: worker.wake, now: Date.now, isHosted: isHost })
    const created = await requests.create(newDeployment(), REVISION)
    const { id } = created
    const ends = async () => {
      worker.wake()
      const deployment = (await requests.find(null, id))!
      const all = await requests.listRevisions(deployment, undefined, { limit: 10, offset: 0 })
      return [deployment.pending.length, deployment.retiring.length, ...all.map(({ status }) => status)]
    }
    const settle = (...statuses: string[]) => expect.poll(ends).toEqual([0, 0, ...statuses])
    const add = () => requests.update(id, (deployment) => ({ deployment, revision: REVISION }))

    await settle('DEPLOYED')
    await add()
    await settle('DEPLOYED', 'DEPLOYED')
    const third = (await add()).latestRevisionId
    await settle('DEPLOYED', 'DEPLOYED', 'DEPLOYED')

    const deployment = (await requests.find(null, id))!
    expect(deployment.activeRevisionId).toBe(third)
    for (const revision of await requests.listRevisions(deployment, undefined, { limit: 10, offset: 0 })) {
      expect(revision.history.map(({ status }) => status)).toEqual([
        'CREATING',
        'QUEUED',
        'AWAITING_BUILD',
        'BUILDING',
        'AWAITING_DEPLOY',
        'DEPLOYING',
        'DEPLOYED',
      ])
    }
    expect([...deployer.servers]).toEqual([third])
    expect(deployer.serving.get(id)).toBe(third)
    await requests.remove(created)
    await expect
      .poll(
        async () => {
          worker.wake()
          return requests.find(null, id)
        },
        { timeout: 240_000 },
      )
      .toBeUndefined()
    expect([...deployer.servers]).toEqual([])
    expect(errors.filter((error) => !String(error).includes(AWAY))).toEqual([])
  })
})

test('an outage that is shorter than a lease costs no build', async () => {
  const store = memoryStore()
  let isAway = false
  const deployer = scriptedDeployer()
  const house = open(
    deployer,
    unreliable(store, () => isAway && 'before'),
    { leaseMs: 2_000 },
  )
  deployer.script.build = async () => {
    isAway = true
    setTimeout(() => {
      isAway = false
    }, 200)
  }
  const { id } = await house.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => [...deployer.serving.keys()]).toEqual([id])
  expect(deployer.calls.filter((call) => call.startsWith('build'))).toHaveLength(1)
})

test('a look that fails does not stop the looks after it, nor those of reconcile', async () => {
  const store = memoryStore()
  let isAway = true
  const deployer = scriptedDeployer()
  const { worker, errors } = open(
    deployer,
    unreliable(store, () => isAway && 'before'),
  )
  const requests = createDeployments({ store, wake() {}, now: Date.now, isHosted: false })
  const one = await requests.create(newDeployment('one'), REVISION)
  const looks = [worker.reconcile(), worker.reconcile()]
  expect((await Promise.allSettled(looks)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  worker.wake()
  await expect.poll(() => errors.length).toBe(1)
  isAway = false
  worker.wake()
  await expect.poll(() => deployer.serving.has(one.id)).toBe(true)
  const two = await requests.create(newDeployment('two'), REVISION)
  await worker.reconcile()
  expect(deployer.serving.has(two.id)).toBe(true)
})

test('a deployment that cannot be claimed keeps no other one waiting', async () => {
  const store = memoryStore()
  const requests = createDeployments({ store, wake() {}, now: Date.now, isHosted: false })
  const made = await Promise.all(
    ['one', 'two', 'three'].map((name) => requests.create(newDeployment(name), REVISION)),
  )
  const broken = partitionOf(made[0]!.id)
  const partial = new Proxy(store, {
    get: (target, name: keyof Store) =>
      name === 'inspect'
        ? (partition: string) =>
            partition === broken ? Promise.reject(new Error(AWAY)) : target.inspect(partition)
        : target[name],
  })
  const deployer = scriptedDeployer()
  const { worker } = open(deployer, partial)
  await expect(worker.reconcile()).rejects.toThrow(AWAY)
  expect([...deployer.serving.keys()].sort()).toEqual([made[1]!.id, made[2]!.id].sort())
})

test('reconcile waits for what is due of a deployment that is held already', async () => {
  const deployer = scriptedDeployer({ isHost: true })
  const store = memoryStore()
  const { worker } = open(deployer, store)
  const requests = createDeployments({ store, wake() {}, now: Date.now, isHosted: true })
  const { id } = await requests.create(newDeployment(), REVISION)
  await worker.reconcile()
  deployer.script.stop = () => sleep(30)
  const { latestRevisionId } = await requests.update(id, (deployment) => ({ deployment, revision: REVISION }))
  await worker.reconcile()
  expect(await requests.find(null, id)).toMatchObject({ activeRevisionId: latestRevisionId, retiring: [] })
  expect([...deployer.servers]).toEqual([latestRevisionId])
})

test('reconcile does not wait for ever for what fails again and again', async () => {
  const deployer = scriptedDeployer()
  const house = open(deployer)
  const created = await house.deployments.create(newDeployment(), undefined)
  deployer.script.destroy = () => {
    throw new Error('The disk is broken.')
  }
  await house.deployments.remove(created)
  await house.worker.reconcile()
  expect((await house.deployments.find(null, created.id))?.status).toBe('AWAITING_FINAL_DELETE')
})

describe('a worker that closes', () => {
  test('lets go of its leases, also where the store is away', async () => {
    const store = memoryStore()
    const dead = mortalStore(store)
    const house = openHouse(scriptedDeployer({ isHost: true }), dead.store, { leaseMs: 100 })
    const { id } = await house.deployments.create(newDeployment(), REVISION)
    await expect.poll(async () => (await house.deployments.find(null, id))?.url).toBeTruthy()
    dead.die()
    await house.worker.close()
    dead.revive()
    await sleep(150)
    const { lease, now } = await store.inspect(partitionOf(id))
    expect(lease === undefined || lease.expiresAt <= now).toBe(true)
  })

  test('gives its leases back where the deployer cannot be closed', async () => {
    const store = memoryStore()
    const deployer = scriptedDeployer({ isHost: true })
    const house = openHouse({ ...deployer, close: () => Promise.reject(new Error('It hangs.')) }, store)
    const { id } = await house.deployments.create(newDeployment(), REVISION)
    await expect.poll(async () => (await house.deployments.find(null, id))?.url).toBeTruthy()
    await house.worker.close()
    expect((await store.inspect(partitionOf(id))).lease).toBeUndefined()
    expect(house.errors.map(String)).toEqual(['Error: It hangs.'])
  })

  test.each(['prepare', 'build', 'deploy', 'promote', 'recover', 'stop', 'destroy'] as const)(
    'is not held up by a deployer that does not stop in %s',
    async (phase) => {
      const store = memoryStore()
      const first = openHouse(scriptedDeployer({ isHost: true }), store)
      const created = await first.deployments.create(newDeployment(), REVISION)
      if (phase === 'recover') {
        await expect.poll(async () => (await first.deployments.find(null, created.id))?.url).toBeTruthy()
      }
      await first.worker.close()
      const deployer = scriptedDeployer({ isHost: true })
      const house = openHouse(deployer, store, { graceMs: 50, deployMs: 100 })
      if (phase === 'stop' || phase === 'destroy') {
        house.worker.wake()
        await expect.poll(() => deployer.servers.size).toBe(1)
        await expect.poll(async () => (await house.deployments.find(null, created.id))?.url).toBeTruthy()
        await house.deployments.remove(created)
      }
      deployer.script[phase] = () => new Promise(() => {})
      house.worker.wake()
      await expect.poll(() => [...deployer.underWay].map((call) => call.split(' ')[0])).toEqual([phase])
      await house.worker.close()
    },
  )
})

test('a deletion stops the start of a server after a restart', async () => {
  const store = memoryStore()
  const one = openHouse(scriptedDeployer({ isHost: true }), store)
  const created = await one.deployments.create(newDeployment(), REVISION)
  await expect.poll(async () => (await one.deployments.find(null, created.id))?.url).toBeTruthy()
  await one.worker.close()
  const deployer = scriptedDeployer({ isHost: true })
  deployer.script.recover = untilAborted
  const house = open(deployer, store)
  house.worker.start()
  await expect.poll(() => deployer.underWay.size).toBe(1)
  await house.deployments.remove(created)
  await expect.poll(() => house.deployments.find(null, created.id)).toBeUndefined()
})

test('a discarded server that cannot be stopped at first is stopped later', async () => {
  const deployer = scriptedDeployer()
  const house = open(deployer)
  deployer.script.promote = () => {
    throw new Error('The switch is broken.')
  }
  let failures = 0
  deployer.script.stop = () => {
    if (++failures < 3) throw new Error('It hangs.')
  }
  const { id } = await house.deployments.create(newDeployment(), REVISION)
  await expect.poll(() => failures).toBe(3)
  await expect.poll(() => deployer.servers.size).toBe(0)
  await expect.poll(async () => (await house.deployments.find(null, id))?.retiring).toEqual([])
})
