import { expect, test } from 'vitest'
import { createControlPlaneHandler } from '../../../src/control-plane/index.ts'
import { createDeployments } from '../../../src/control-plane/records/create-deployments.ts'
import { memoryStore } from '../../../src/storage/index.ts'
import { DATABASES } from '../../kit/databases.ts'
import { newDeployment, openHouse, REVISION } from '../support/house.ts'
import { scriptedDeployer } from '../support/scripted-deployer.ts'

test('of 1,000 revisions in a row the newest one is deployed, and the others cost little', async () => {
  const deployer = scriptedDeployer()
  const house = openHouse(deployer)
  const { deployments, worker, errors } = house
  const { id } = await deployments.create(newDeployment(), REVISION)
  let last = ''
  for (let at = 0; at < 1_000; at++) {
    const { latestRevisionId } = await deployments.update(id, (deployment) => ({
      deployment,
      revision: REVISION,
    }))
    last = latestRevisionId!
  }
  await expect
    .poll(
      async () => {
        const { pending, activeRevisionId, retiring } = (await deployments.find(null, id))!
        return [pending.length, activeRevisionId, retiring.length]
      },
      { timeout: 240_000 },
    )
    .toEqual([0, last, 0])
  expect([...deployer.servers]).toEqual([last])
  const deployment = (await deployments.find(null, id))!
  const revisions = await deployments.listRevisions(deployment, undefined, { limit: 1_000, offset: 1 })
  expect(revisions).toHaveLength(1_000)
  for (const { status } of revisions) expect(['SKIPPED', 'DEPLOYED']).toContain(status)
  await worker.close()
  expect(errors).toEqual([])
})

test('10,000 deployments at rest cost a look nothing', async () => {
  const store = memoryStore()
  const asleep = createDeployments({ store, wake() {}, now: Date.now, isHosted: false })
  for (let at = 0; at < 10_000; at++)
    await asleep.create(newDeployment(`d${at}`, { status: 'READY' }), undefined)
  const deployer = scriptedDeployer()
  const { worker, deployments } = openHouse(deployer, store)
  const before = process.cpuUsage()
  expect(await worker.reconcile()).toEqual({ deployments: 0 })
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(200)
  const { id } = await deployments.create(newDeployment('one-more'), REVISION)
  await expect.poll(() => deployer.serving.has(id)).toBe(true)
  await worker.close()
})

test.each(Object.entries(DATABASES))(
  'texts that databases cannot store are refused or kept as they are, on %s',
  async (_, open) => {
    const { store } = await (await open())()
    const errors: unknown[] = []
    const controlPlane = createControlPlaneHandler({
      store,
      deployer: scriptedDeployer(),
      authenticate: () => ({ id: 'ci' }),
      secrets: { key: btoa('k'.repeat(32)) },
      onError: (error) => errors.push(error),
    })
    const call = async (method: string, path: string, body: string) => {
      const response = await controlPlane.fetch(
        new Request(`http://host/v2/deployments${path}`, { method, body }),
      )
      return { status: response.status, text: await response.text() }
    }
    const texts = ['\\u0000', '\\ud800', 'a\\udc00b', '\\uffff', '__proto__']
    for (const [at, text] of texts.entries()) {
      const body = (install: string) =>
        `{"name":"d${at}","display_name":"${text}","source":"github","secrets":[{"name":"S${at}","value":"${text} and more"}],"source_config":{"repo_url":"file:///repository","deployment_type":"dev","build_on_push":false,"install_command":"${install}"},"source_revision_config":{"repo_ref":"main","langgraph_config_path":"${text}"}}`
      const { status, text: answer } = await call('POST', '', body(text))
      expect([201, 400, 422], answer).toContain(status)
      if (status !== 201) continue
      const { id } = JSON.parse(answer)
      const read = await call('PATCH', `/${id}`, `{"display_name":"${text}${text}"}`)
      expect(read.status, read.text).toBe(200)
      expect(JSON.parse(read.text).display_name).toBe(JSON.parse(`"${text}${text}"`))
      expect(JSON.parse(read.text).display_name).toBe(JSON.parse(`"${text}${text}"`))
    }
    await controlPlane.close()
    expect(errors).toEqual([])
  },
)
