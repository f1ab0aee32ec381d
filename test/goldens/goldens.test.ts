import { expect, onTestFinished, test } from 'vitest'
import { createControlPlaneHandler } from '../../src/control-plane/index.ts'
import { createAgentServer } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/index.ts'
import { scriptedDeployer } from '../control-plane/support/scripted-deployer.ts'
import { agents } from '../doors/agents.ts'
import { faces } from '../doors/faces.ts'
import { type Ask, recorder } from './recorder.ts'
import { scenarios } from './scenarios.ts'

/**
 * What each protocol sends, byte for byte, so that a change of the code shows what it changes on the wire. Where the change is meant,
 * `npx vitest run test/goldens -u` writes the files anew.
 */
test.each(Object.entries(scenarios))('%s answers as it did', async (name, scenario) => {
  const controlPlane = createControlPlaneHandler({
    deployer: scriptedDeployer(),
    worker: false,
    authenticate: () => ({ id: 'ann' }),
    store: memoryStore(),
    secrets: { key: Buffer.alloc(32, 7).toString('base64') },
  })
  const server = createAgentServer({
    agents: { tools: agents.tools!, asks: agents.asks!, says: agents.says!, fails: agents.fails! },
    defaultAgent: 'says',
    faces,
    controlPlane,
    onError() {},
  })
  onTestFinished(() => server.close())
  const { ask, transcript } = recorder(server)
  await (scenario as (ask: Ask) => Promise<void>)(ask)
  await expect(transcript()).toMatchFileSnapshot(`wire/${name}.txt`)
})

test('the document of the interface is as it was', async () => {
  const server = createAgentServer({ agents: { says: agents.says! }, faces, onError() {} })
  onTestFinished(() => server.close())
  const document = await (await server.fetch(new Request('http://127.0.0.1/openapi.json'))).json()
  await expect(`${JSON.stringify({ ...document, info: undefined }, null, 1)}\n`).toMatchFileSnapshot(
    'wire/openapi.txt',
  )
})
