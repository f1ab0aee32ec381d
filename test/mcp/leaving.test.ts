import { expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../src/index.ts'
import { asks, held } from '../a2a/served-agents.ts'
import { engineOf } from '../kit/engine.ts'
import type { Json } from '../kit/events.ts'
import { killable, sharedMemory } from '../kit/shared.ts'
import { eventually, gate, turns } from '../kit/wait.ts'
import { connect, KINDS, rpc, served, textOf, threadOf } from './served.ts'

type Server = Awaited<ReturnType<typeof served>>['server']

async function threadIn({ engine }: Server) {
  for await (const thread of engine.listThreads()) return thread
  return undefined
}

const answerIn = async (server: Server) => {
  const thread = await threadIn(server)
  const answerId = thread?.activeRunId ?? thread?.lastRunId
  return thread && answerId ? server.engine.findAnswer({ threadId: thread.threadId, answerId }) : undefined
}

/** A call that its client leaves while the agent works. */
async function leave(
  kind: (typeof KINDS)[number],
  before: (server: Server) => Promise<void> = async () => {},
) {
  const { opened, open } = gate()
  const at = await served({ held: held({ opened, open }) }, { tasks: false })
  const client = await connect(at.url, kind)
  const controller = new AbortController()
  const called = client.call('held', { message: 'hi' }, { signal: controller.signal }).catch(() => 'left')
  await eventually(async () => (await answerIn(at.server))?.record.state === 'working')
  await before(at.server)
  controller.abort()
  await client.close()
  await called
  return { ...at, open }
}

test.each(KINDS)('%s: who leaves a call that it has started stops its run', async (kind) => {
  const { server } = await leave(kind)
  await eventually(async () => (await answerIn(server))?.record.state === 'canceled')
})

test.each(KINDS)('%s: a run that somebody else follows goes on when its caller leaves', async (kind) => {
  let text = ''
  let followed: Promise<void> | undefined
  const { server, open } = await leave(kind, async ({ engine }) => {
    const { threadId } = (await threadIn({ engine } as Server))!
    const answer = await engine.follow({ threadId })
    followed = (async () => {
      for await (const event of answer!)
        if (
          event.type === 'event' &&
          event.method === 'messages' &&
          event.data.event === 'content-block-delta'
        )
          text += (event.data.delta as { text?: string }).text ?? ''
    })()
    await turns(5)
  })
  await turns(20)
  expect((await answerIn(server))?.record.state).toBe('working')
  open()
  await followed
  expect(text).toBe('half hi')
})

test('who leaves a call that it has not started stops nothing', async () => {
  const { opened, open } = gate()
  const slow = defineAgent({
    async run({ interrupt, message }) {
      const colour = await interrupt('Which?')
      await opened
      await message(`It is ${colour}.`)
    },
  })
  const at = await served({ slow }, { tasks: false })
  const asked = (await rpc(at, 'tools/call', { name: 'slow', arguments: { message: 'hi' } })).result
  const threadId = asked.requestState.slice(0, asked.requestState.lastIndexOf(':'))
  const [key] = Object.keys(asked.inputRequests)
  await at.server.engine.respond({ threadId, answers: { [key!]: 'blue' } })
  const again = { name: 'slow', arguments: { message: 'hi' }, requestState: asked.requestState }
  const controller = new AbortController()
  const left = rpc(at, 'tools/call', again, { signal: controller.signal }).catch(() => 'left')
  await turns(20)
  controller.abort()
  expect(await left).toBe('left')
  await turns(20)
  expect((await at.server.engine.findAnswer({ threadId }))?.record.state).toBe('working')
  const waiting = rpc(at, 'tools/call', again)
  open()
  expect((await waiting).result.content[0].text).toBe('It is blue.')
})

test('a run whose process is lost is continued by another instance, which gives one answer', async () => {
  const shared = sharedMemory()
  const { place, kill } = killable(shared())
  const begun = gate()
  let attempts = 0
  const agent = defineAgent({
    resumable: true,
    async run({ message }) {
      const writer = message()
      attempts++
      await writer.text(attempts === 1 ? 'A first ' : 'A second try.')
      if (attempts > 1) return
      begun.open()
      await new Promise(() => {})
    },
  })
  const options = { tasks: { afterMs: 0 } }
  const lost = engineOf({ agent }, { ...place, leaseTtlMs: 200, onError: () => {} })
  onTestFinished(() => lost.close())
  const one = await served({ agent }, options, { engine: lost })
  const two = await served({ agent }, options, { ...shared(), leaseTtlMs: 200 })
  const { result: task } = await rpc(one, 'tools/call', { name: 'agent', arguments: { message: 'hi' } })
  await begun.opened
  kill()
  let found: Json
  await eventually(async () => {
    found = (await rpc(two, 'tasks/get', { taskId: task.taskId })).result
    return found.status !== 'working'
  })
  expect(found).toMatchObject({ status: 'completed', result: { content: [{ text: 'A second try.' }, {}] } })
  expect(attempts).toBe(2)
})

test.each(KINDS)(
  '%s: a conversation, its questions and its answers are those of its owner alone',
  async (kind) => {
    const authenticate = ({ headers }: Request) => ({
      id: headers.get('x-user')!,
      tenant: headers.get('x-tenant')!,
    })
    const { url, server } = await served({ asks: asks() }, {}, { authenticate })
    const as = (user: string, tenant: string) =>
      connect(url, kind, { headers: { 'x-user': user, 'x-tenant': tenant } })
    const ann = await as('ann', 'a')
    const threadId = threadOf(await ann.call('asks', { message: 'go' }))
    const bob = await as('bob', 'b')
    const refused = await bob.call('asks', { message: 'go', threadId })
    expect([refused.isError, textOf(refused)]).toEqual([
      true,
      'threadId: this conversation does not exist. Omit threadId to start a new one.',
    ])
    expect(await bob.call('answer_question', { threadId, answer: 'red' })).toMatchObject({ isError: true })
    const eve = await as('eve', 'a')
    expect(textOf(await eve.call('answer_question', { threadId, answer: 'blue' }))).toContain('It is "blue".')
    const thread = await server.engine.findThread({ threadId, principal: { id: 'ann', tenant: 'a' } })
    expect(thread?.status).toBe('idle')
  },
)
