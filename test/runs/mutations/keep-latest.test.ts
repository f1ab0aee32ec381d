import { setTimeout as sleep } from 'node:timers/promises'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { type AgentEngine, keepLatest } from '../../../src/engine/index.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { threeSteps } from '../../fixtures/graphs.ts'
import { engineOf, start } from '../../kit/engine.ts'
import { killable, sharedMemory } from '../../kit/shared.ts'
import { gate } from '../../kit/wait.ts'

const threadId = 't'
const threads = [{ threadId }]

async function historyOf(engine: AgentEngine, checkpointNs?: string) {
  const thread = (await engine.findThread({ threadId }))!
  const states = []
  for await (const state of engine.readHistory(thread, { checkpointNs }, {})) states.push(state)
  return states
}

/** Starts a run, and cancels it once something has happened. */
async function cancelled(
  engine: AgentEngine,
  input: unknown,
  happened: (runId: string) => Promise<unknown>,
): Promise<void> {
  const { runId } = await start(engine, threadId, input)
  await happened(runId)
  await engine.cancel({ threadId, runId, action: 'interrupt' })
  await engine.wait({ threadId, runId })
}

async function run(engine: AgentEngine, input: unknown): Promise<void> {
  const { runId } = await start(engine, threadId, input)
  expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success', error: null })
}

test('an answer that was cut off gives way to the whole one, also after the thread was shortened', async () => {
  const model = new FakeListChatModel({ responses: ['Half an answer, without end', 'Whole.'], sleep: 30 })
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('prepare', () => ({}))
    .addNode('answer', async ({ messages }, config) => ({
      messages: [await model.invoke(messages, config)],
    }))
    .addEdge(START, 'prepare')
    .addEdge('prepare', 'answer')
    .compile()
  const engine = engineOf({ a: langgraph(graph) })
  const asked = { messages: [{ type: 'human', content: 'hi', id: 'h' }] }
  await cancelled(engine, asked, async (runId) => {
    for await (const event of engine.events({ threadId, runId, filter: { channels: ['messages'] } }))
      if (JSON.stringify(event).includes('"f"')) return
  })
  const before = (await historyOf(engine))[0]!
  expect(before.values.messages).toHaveLength(2)
  expect((await historyOf(engine)).length).toBeGreaterThan(2)
  expect(await keepLatest(engine, threads)).toBe(1)
  const [newest, ...others] = await historyOf(engine)
  expect(newest).toEqual(before)
  expect(others.map(({ values }) => values.messages)).toMatchObject([[{ id: 'h' }]])
  await run(engine, null)
  const messages = (await historyOf(engine))[0]!.values.messages as { content: unknown }[]
  expect(messages.map(({ content }) => content)).toEqual(['hi', [{ type: 'text', text: 'Whole.' }]])
  await keepLatest(engine, threads)
  expect(await historyOf(engine)).toHaveLength(1)
  await engine.close()
})

test.each([false, true])('a cancelled subagent goes on where it was, shortened: %s', async (isShortened) => {
  const { opened: reached, open: reach } = gate()
  const calls: string[] = []
  const agent = defineAgent({
    async run({ subagent, message }) {
      const found = await subagent('researcher', 'Find x', async ({ tool, setState }) => {
        for (const name of ['one', 'two']) {
          await tool(name, {}, async () => void calls.push(name))
          await setState({ [name]: true })
        }
        calls.push('waits')
        if (calls.length === 3) {
          reach()
          await new Promise(() => {})
        }
        return 'found'
      })
      await message(`It is ${JSON.stringify(found)}.`)
    },
  })
  const engine = engineOf({ a: agent }, { cancelGraceMs: 50 })
  await cancelled(engine, 'find x', () => reached)
  if (isShortened) {
    await keepLatest(engine, threads)
    expect(await historyOf(engine)).toHaveLength(1)
  }
  await run(engine, null)
  expect(calls).toEqual(['one', 'two', 'waits', 'waits'])
  const { messages } = (await historyOf(engine))[0]!.values as { messages: { content: unknown }[] }
  expect(JSON.stringify(messages.at(-1)!.content)).toContain('found')
  await engine.close()
})

test('a process that is lost while it shortens a thread keeps nobody from it', async () => {
  const shared = sharedMemory()
  const lost = killable(shared())
  const { opened: begun, open: begin } = gate()
  const checkpointer = {
    ...lost.place.checkpointer,
    async keepLatest() {
      begin()
      await new Promise(() => {})
    },
  }
  const agents = { a: langgraph(threeSteps()) }
  const options = { leaseTtlMs: 300, sweepMs: 60_000, onError: () => {} }
  const first = engineOf(agents, { ...lost.place, checkpointer, ...options })
  await run(first, { notes: ['in'] })
  void keepLatest(first, threads).catch(() => {})
  await begun
  const second = engineOf(agents, { ...shared(), ...options })
  onTestFinished(() => second.close())
  await expect(keepLatest(second, threads)).rejects.toMatchObject({ code: 'thread_busy' })
  lost.kill()
  await sleep(400)
  await run(second, { notes: ['next'] })
  expect(await keepLatest(second, threads)).toBe(1)
  expect((await historyOf(second)).map(({ values }) => values.notes)).toEqual([
    ['in', 'one', 'two', 'three', 'next', 'one', 'two', 'three'],
  ])
})

test('a thread that only the checkpointer knows is shortened, and one without a state is counted', async () => {
  const checkpointer = memoryCheckpointer()
  const agents = { a: langgraph(threeSteps()) }
  const before = engineOf(agents, { checkpointer })
  await run(before, { notes: ['in'] })
  await before.close()
  const engine = engineOf(agents, { checkpointer })
  await engine.createThread({ threadId: 'empty' })
  expect(await keepLatest(engine, [...threads, { threadId: 'empty' }, { threadId: 'unknown' }])).toBe(2)
  expect(await historyOf(engine)).toHaveLength(1)
  expect((await engine.findThread({ threadId }))!.status).toBe('idle')
  await run(engine, { notes: ['next'] })
  await engine.close()
})
