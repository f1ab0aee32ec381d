import { expect, test } from 'vitest'
import { defineAgent } from '../../src/index.ts'
import { engineOf, start } from '../kit/engine.ts'
import { eventually } from '../kit/wait.ts'

test('a fork from a state that its own rollback deletes is dropped, and does not begin with an empty state', async () => {
  const begun: unknown[] = []
  const agent = defineAgent<{ readonly n: number }>({
    async run({ input, setState, signal }) {
      begun.push(input.n)
      await setState({ n: input.n })
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  const engine = engineOf({ a: agent })
  const thread = async () => (await engine.findThread({ threadId: 't' }))!
  const first = await start(engine, 't', { n: 1 })
  const saved = async () => engine.readState(await thread())
  await eventually(async () => (await saved())?.values.n === 1)
  const checkpointId = (await saved())!.checkpoint!.checkpointId
  const fork = await start(engine, 't', { n: 2 }, { checkpointId, multitaskStrategy: 'rollback' })
  expect(await engine.wait({ threadId: 't', runId: first.runId })).toMatchObject({ status: 'interrupted' })
  expect(await engine.wait({ threadId: 't', runId: fork.runId })).toMatchObject({ status: 'interrupted' })
  expect(begun).toEqual([1])
  expect(await thread()).toMatchObject({ status: 'idle', queue: [] })
  expect(await saved()).toBeUndefined()
})
