import { expect, test } from 'vitest'
import { a2aAgent } from '../../../src/faces/a2a/index.ts'
import { defineAgent } from '../../../src/index.ts'
import { clientOf, serve, stateOf, textOf, VERSIONS } from '../served.ts'

test.each(VERSIONS)(
  'what a remote agent says of its failure is told to the clients of v%s',
  async (version) => {
    const remote = serve(
      { pay: defineAgent({ run: () => Promise.reject(new Error('The card was declined.')) }) },
      { errorMessage: true },
    )
    const fetch: typeof globalThis.fetch = (input, init) => remote.server.fetch(new Request(input, init))
    const pay = a2aAgent({ url: 'http://127.0.0.1/a2a/pay/', fetch })
    const nested = defineAgent({
      async run({ subagent }) {
        await subagent('pay', 'Pay.', pay.run)
      },
    })
    const here = serve({
      pay,
      nested,
      own: defineAgent({ run: () => Promise.reject(new Error('A secret.')) }),
    })
    for (const assistant of ['pay', 'nested']) {
      const { result } = await clientOf(here.server, { assistant, version }).send({ text: 'Pay.' })
      expect([stateOf(result), textOf(result.status.message.parts)]).toEqual([
        'failed',
        'The card was declined.',
      ])
    }
    const { result } = await clientOf(here.server, { assistant: 'own', version }).send({ text: 'Pay.' })
    expect(textOf(result.status.message.parts)).not.toContain('secret')
  },
)

test('the total of a list of tasks that ask counts what it lists', async () => {
  const asks = defineAgent({
    async run({ interrupt, messages }) {
      const isSignIn = JSON.stringify(messages.at(-1)?.content).includes('Sign in')
      await interrupt(isSignIn ? { type: 'auth-required' } : 'Which?')
    },
  })
  const { server } = serve({ asks })
  const client = clientOf(server, { assistant: 'asks' })
  for (const text of ['Ask', 'Sign in', 'Ask', 'Sign in', 'Ask']) await client.send({ text })
  const totals = async (filter: object) => {
    const { result } = await client.list({ pageSize: 2, ...filter })
    return [result.tasks.length <= 2, result.totalSize]
  }
  expect(await totals({ status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([true, 3])
  expect(await totals({ status: 'TASK_STATE_AUTH_REQUIRED' })).toEqual([true, 2])
  expect(await totals({})).toEqual([true, 5])
  const [task] = (await client.list({ status: 'TASK_STATE_AUTH_REQUIRED', pageSize: 100 })).result.tasks
  expect(await totals({ contextId: task.contextId, status: 'TASK_STATE_AUTH_REQUIRED' })).toEqual([true, 1])
  expect(await totals({ contextId: task.contextId, status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([true, 0])
})
