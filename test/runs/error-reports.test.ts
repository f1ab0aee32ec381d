import { expect, onTestFinished, test } from 'vitest'
import { createAgentServer } from '../../src/index.ts'
import { engineOf, start } from '../kit/engine.ts'
import { puppet } from '../kit/puppet.ts'
import { turns } from '../kit/wait.ts'

const broken = {
  throws: () => {
    throw new Error('reporter')
  },
  rejects: () => Promise.reject(new Error('reporter')),
}

for (const [how, onError] of Object.entries(broken)) {
  test(`an onError that ${how} neither ends the process nor changes a run`, async () => {
    const actor = puppet()
    const observe = () => {
      throw new Error('observer')
    }
    const server = createAgentServer({ agents: { a: actor.agent }, observe, onError })
    onTestFinished(() => server.close())
    const run = await start(server.engine, 't')
    actor.finish()
    expect(await server.engine.wait({ threadId: 't', ...run })).toMatchObject({ status: 'success' })
    // An unhandled rejection would fail the test run at the next turn of the loop.
    await turns()
  })
}

test('onError of an engine gets an error id of its own for each error', async () => {
  const told: { readonly id: string }[] = []
  const actor = puppet()
  const engine = engineOf(
    { a: actor.agent },
    {
      observe: () => {
        throw new Error('observer')
      },
      onError: (_, info) => told.push(info),
    },
  )
  onTestFinished(() => engine.close())
  const run = await start(engine, 't')
  actor.finish()
  await engine.wait({ threadId: 't', ...run })
  expect(told).toHaveLength(2)
  expect(new Set(told.map(({ id }) => id)).size).toBe(2)
  for (const { id } of told) expect(id).toMatch(/^[0-9a-f-]{36}$/)
})
