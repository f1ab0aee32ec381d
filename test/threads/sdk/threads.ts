import type { ThreadStream } from '@langchain/langgraph-sdk/client'
import { expect } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import {
  approval,
  calculator,
  chat,
  inOrder,
  threeSteps,
  toolAgent,
  twoApprovals,
} from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { slowResearcher } from './graphs.ts'
import type { Scenario } from './scenarios.ts'
import { brief, human, type Stage, setStage } from './stage.ts'

const open = ({ client }: Stage, assistantId: string, threadId?: string): ThreadStream => {
  const options = { assistantId, reconnectDelayMs: () => 5 }
  return threadId === undefined ? client.threads.stream(options) : client.threads.stream(threadId, options)
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

/** Scripts without a user interface use `client.threads.stream` and its handles. */
export const threads: Readonly<Record<string, Scenario>> = {
  async 'a script gets the messages, tool calls, values and output of a run'(target) {
    const stage = await setStage(target, { a: langgraph(calculator()) })
    const thread = open(stage, 'a')
    const messages = all(thread.messages)
    const calls = all(thread.toolCalls)
    const values = all(thread.values)
    const { run_id } = await thread.run.start({ input: human('2 + 3?') })
    expect(run_id).toEqual(expect.any(String))
    const spoken: string[] = []
    for (const message of await messages) spoken.push(await (message as Json).text)
    expect(spoken.filter((text) => text !== '')).toEqual(
      expect.arrayContaining(['Let me add.', 'It is five.']),
    )
    const [call] = (await calls) as Json[]
    expect(call).toMatchObject({ name: 'add', input: { a: 2, b: 3 } })
    expect(JSON.stringify(await call.output)).toContain('5')
    const output = (await thread.output) as Json
    expect(output.messages.map(brief)).toEqual(['human: 2 + 3?', 'ai -> add', 'tool: 5', 'ai: It is five.'])
    expect(((await values).at(-1) as Json).messages).toHaveLength(4)
    expect(thread.interrupted).toBe(false)
    await thread.close()
  },

  async 'a script gets subagents and their messages'(target) {
    const { graph, release } = slowResearcher()
    const stage = await setStage(target, { deep: langgraph(graph) })
    const thread = open(stage, 'deep')
    const subagents = thread.subagents[Symbol.asyncIterator]()
    await thread.run.start({ input: human('Find x') })
    const { value: subagent } = await subagents.next()
    expect(subagent).toMatchObject({ name: 'researcher', callId: 'call_task' })
    expect(await subagent.taskInput).toBe('Find x')
    const messages = all(subagent.messages)
    const calls = all(subagent.toolCalls)
    // Once a later subscription is open, the earlier ones are open as well.
    await subagent.subscribe(['messages', 'tools'])
    release()
    const texts = await Promise.all((await messages).map((message) => (message as Json).text))
    expect(texts).toContain('x is 5')
    const names = ((await calls) as Json[]).map(({ callId, name }) => `${callId} ${name}`)
    expect([...new Set(names)]).toEqual(['call_wait wait'])
    expect(JSON.stringify(await subagent.output)).toContain('x is 5')
    expect((await subagents.next()).done).toBe(true)
    await thread.close()
  },

  async 'a script gets custom events by name'(target) {
    const script = inOrder(
      { toolCalls: [{ id: 'call_report', name: 'report', args: {} }] },
      { text: 'Reported.' },
    )
    const stage = await setStage(target, { a: langgraph(toolAgent(script)) })
    const thread = open(stage, 'a')
    const progress = all(thread.extensions.progress as AsyncIterable<unknown>)
    const raw = await thread.subscribe(['custom'])
    const named = await thread.subscribe(['custom:progress'])
    await thread.run.start({ input: human('go') })
    expect(await progress).toEqual([{ done: 1 }])
    expect(await thread.extensions.progress).toEqual({ done: 1 })
    expect(await all(named)).toEqual([{ done: 1 }])
    expect((await all(raw)).map(({ params }: Json) => params.data)).toEqual([
      { name: 'progress', payload: { done: 1 } },
      { payload: 'halfway' },
    ])
    const late = open(stage, 'a', thread.threadId)
    expect(await all(late.extensions.progress as AsyncIterable<unknown>)).toEqual([{ done: 1 }])
    await Promise.all([thread.close(), late.close()])
  },

  async 'a script answers one interrupt, several, and one with an update'(target) {
    const stage = await setStage(target, { ask: langgraph(approval()), two: langgraph(twoApprovals()) })
    const one = open(stage, 'ask')
    await one.run.start({ input: { notes: ['in'] } })
    expect(await one.output).toEqual({ notes: ['in'] })
    expect(one.interrupted).toBe(true)
    const [asked] = one.interrupts
    expect(asked).toMatchObject({ payload: { question: 'go?' }, namespace: [] })
    const values = await one.subscribe(['values', 'lifecycle'])
    await one.input.respond({
      interrupt_id: asked!.interruptId,
      namespace: [],
      response: 'yes',
      update: { notes: ['card'] },
    } as never)
    const resumed = (await all(values)).filter(({ method }: Json) => method === 'values')
    expect((resumed.at(-1) as Json).params.data.notes).toEqual(['in', 'card', 'answer: yes', 'after'])
    await expect(
      one.input.respond({ interrupt_id: asked!.interruptId, namespace: [], response: 'again' }),
    ).rejects.toMatchObject({ code: 'no_such_interrupt' })

    const two = open(stage, 'two')
    await two.run.start({ input: {} })
    await two.output
    const responses = two.interrupts.map(({ interruptId, namespace }) => ({
      interrupt_id: interruptId,
      namespace,
      response: 'ok',
    }))
    expect(responses).toHaveLength(2)
    const ends = await two.subscribe(['lifecycle'])
    await two.input.respond({ responses })
    await all(ends)
    expect((await two.state.get({ namespace: [] })) as Json).toMatchObject({
      values: { notes: expect.arrayContaining(['left: ok', 'right: ok', 'after']) },
    })
    await Promise.all([one.close(), two.close()])
  },

  async 'a script reads state and checkpoints, forks, and reads the tree'(target) {
    const stage = await setStage(target, { a: langgraph(threeSteps()), chat: langgraph(chat()) })
    const thread = open(stage, 'a')
    await thread.run.start({ input: { notes: ['in'] } })
    await thread.output
    expect(await thread.state.get({ namespace: [], keys: ['notes'] })).toMatchObject({
      values: { notes: ['in', 'one', 'two', 'three'] },
      checkpoint: { id: expect.any(String) },
    })
    const { checkpoints } = (await thread.state.listCheckpoints({ namespace: [] })) as Json
    const one = checkpoints.find(({ step }: Json) => step === 1)
    const ends = await thread.subscribe(['lifecycle'])
    const forked = (await thread.state.fork({
      checkpoint_id: one.id,
      input: { notes: ['fork'] },
    } as never)) as Json
    expect(forked).toMatchObject({ thread_id: thread.threadId, run_id: expect.any(String) })
    for await (const event of ends) {
      const { event: state, run_id } = event.params.data as Json
      if (run_id === forked.run_id && state === 'completed') break
    }
    expect((await stage.client.threads.getState<Json>(thread.threadId)).values.notes).toEqual([
      'in',
      'one',
      'fork',
      'one',
      'two',
      'three',
    ])
    expect(await thread.agent.getTree({ run_id: forked.run_id })).toMatchObject({
      tree: { namespace: [], status: 'completed', graph_name: 'a' },
    })
    await expect(thread.agent.getTree({ run_id: 'none' })).rejects.toMatchObject({ code: 'no_such_run' })
    await expect(thread.state.get({ namespace: ['nowhere:1'] })).rejects.toMatchObject({
      code: 'no_such_namespace',
    })
    await thread.close()
  },

  async 'a script injects a message beside the conversation'(target) {
    const stage = await setStage(target, { chat: langgraph(chat()) })
    const thread = open(stage, 'chat')
    await thread.run.start({ input: human('Hi') })
    await thread.output
    await thread.input.inject({ namespace: [], message: { role: 'user', content: 'By the way' } } as never)
    const { values } = await stage.client.threads.getState<Json>(thread.threadId)
    expect(values.messages.at(-1)).toMatchObject({ type: 'human', content: 'By the way' })
    await thread.close()
  },

  async 'a script gets the failure of a run, and refusals'(target) {
    const stage = await setStage(target, {
      bad: langgraph(threeSteps(() => Promise.reject(new Error('kaput')))),
    })
    const thread = open(stage, 'bad')
    const ends = await thread.subscribe(['lifecycle'])
    await thread.run.start({ input: {} })
    const [, failed] = (await all(ends)) as Json[]
    expect(failed.params.data).toMatchObject({ event: 'failed', error: 'kaput' })
    const nobody = open(stage, 'nobody')
    await expect(nobody.run.start({ input: {} })).rejects.toMatchObject({ code: 'invalid_argument' })
    await Promise.all([thread.close(), nobody.close()])
  },

  async 'a run continues without its client'(target) {
    const stage = await setStage(target, { a: langgraph(calculator()) })
    const thread = open(stage, 'a')
    await thread.run.start({ input: human('2 + 3?') })
    await thread.close()
    const late = open(stage, 'a', thread.threadId)
    const output = (await late.output) as Json
    expect(output.messages.map(brief).at(-1)).toBe('ai: It is five.')
    await late.close()
  },
}
