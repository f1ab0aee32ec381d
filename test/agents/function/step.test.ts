import { expect, test } from 'vitest'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import type { StepContext } from '../../../src/agents/function/types.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { gate } from '../../kit/wait.ts'
import { answers, ask, input, messagesIn, newThread, outline, run, stateOf, taskOf } from '../run.ts'

const asked = (events: readonly AgentEvent[]) =>
  events.find(({ method }) => method === 'input.requested')!.data as { readonly interrupt_id: string }

test('a step runs once, gives its result again after an answer, and clients see nothing of it', async () => {
  const thread = newThread()
  let runs = 0
  const seen: unknown[] = []
  const agent = defineAgent({
    async run({ step, interrupt, message }) {
      const drawn = await step(() => ({ number: ++runs, gone: undefined }))
      const answer = await interrupt('go on?')
      seen.push(drawn)
      await message(`${drawn.number} ${answer}`)
    },
  })
  const first = await run(agent, thread, ask)
  expect(outline(first).filter((line) => !/^(checkpoints|values|updates|tasks)/.test(line))).toEqual([
    'input.requested []',
  ])
  await run(agent, thread, answers({ [asked(first).interrupt_id]: 'yes' }))
  expect(runs).toBe(1)
  expect(seen).toEqual([{ number: 1 }])
  expect(messagesIn((await stateOf(agent, thread)).values).map(({ content }) => content)).toEqual([
    'go',
    '1 yes',
  ])
})

test('the messages and the state of a step are those of the function, and are seen at their position again', async () => {
  const thread = newThread()
  const seen: unknown[] = []
  const agent = defineAgent({
    async run(context) {
      await context.step(async ({ message, setState }) => {
        await message('from the step')
        await setState({ place: 'Oslo' })
      })
      seen.push([context.state.place, context.messages.length])
      await context.message('after it')
      await context.interrupt('go on?')
    },
  })
  const first = await run(agent, thread, ask)
  const second = await run(agent, thread, answers({ [asked(first).interrupt_id]: 1 }))
  expect(seen).toEqual([
    ['Oslo', 2],
    ['Oslo', 2],
  ])
  expect(second.filter(({ method }) => method === 'messages')).toEqual([])
  const { values } = await stateOf(agent, thread)
  expect(messagesIn(values).map(({ content }) => content)).toEqual(['go', 'from the step', 'after it'])
})

test('a step that was cut off runs again as a whole, with the same id, and sees what it had written', async () => {
  const thread = newThread()
  const cut = gate()
  const ids: string[] = []
  const seen: unknown[] = []
  const step = async ({ id, state, message, setState }: StepContext) => {
    ids.push(id)
    seen.push(state.ticket)
    await message('working')
    await setState({ ticket: 7 })
    if (seen.length === 1) await cut.opened
    return 'done'
  }
  const agent = defineAgent({
    run: async (context) => void (await context.message((await context.step(step)) as string)),
  })
  const task = taskOf(thread, ask)
  for await (const { method, data } of agent.stream(task))
    if (method === 'values' && (data as { ticket?: number }).ticket === 7) break
  const last = await run(agent, thread, input(null), { runId: task.runId })
  expect(seen).toEqual([undefined, 7])
  expect(ids[1]).toBe(ids[0])
  expect(last.length).toBeGreaterThan(0)
  const { values } = await stateOf(agent, thread)
  expect(messagesIn(values).map(({ content }) => content)).toEqual(['go', 'working', 'done'])
  cut.open()
})

test('a step whose failure has ended the run is made again by another run, with another id', async () => {
  const thread = newThread()
  const ids: string[] = []
  const seen: unknown[] = []
  const agent = defineAgent({
    async run({ step, message }) {
      const result = await step(async ({ id, state, setState }) => {
        ids.push(id)
        seen.push(state.tries)
        await setState({ tries: ids.length })
        if (ids.length === 1) throw new Error('not yet')
        return 'at last'
      })
      await message(result)
    },
  })
  await expect(run(agent, thread, ask)).rejects.toThrow('not yet')
  await run(agent, thread, input(null))
  expect(seen).toEqual([undefined, 1])
  expect(new Set(ids).size).toBe(2)
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe('at last')
})

test('a failure of a step that the function has caught is the same when it runs again', async () => {
  const thread = newThread()
  const caught: unknown[] = []
  let runs = 0
  const agent = defineAgent({
    async run({ step, interrupt }) {
      const failing = step(() => {
        runs++
        throw Object.assign(new TypeError('no'), { code: 'E_NO' })
      })
      await failing.catch(({ name, message, code }) => caught.push([name, message, code]))
      await interrupt('go on?')
    },
  })
  const first = await run(agent, thread, ask)
  await run(agent, thread, answers({ [asked(first).interrupt_id]: 1 }))
  expect(runs).toBe(1)
  expect(caught).toEqual([
    ['TypeError', 'no', 'E_NO'],
    ['TypeError', 'no', 'E_NO'],
  ])
})

test('a step may ask, and runs again with the answer; one in a subagent keeps its result as well', async () => {
  const thread = newThread()
  let runs = 0
  const agent = defineAgent({
    async run({ step, subagent, message }) {
      const name = await step(({ interrupt }) => interrupt<string>('who?'))
      const found = await subagent('finder', 'find it', async (inner) => {
        const at = await inner.step(() => ++runs)
        await inner.interrupt('sure?')
        return at
      })
      await message(`${name} ${found}`)
    },
  })
  const first = await run(agent, thread, ask)
  const second = await run(agent, thread, answers({ [asked(first).interrupt_id]: 'Ada' }))
  await run(agent, thread, answers({ [asked(second).interrupt_id]: true }))
  expect(runs).toBe(1)
  expect(messagesIn((await stateOf(agent, thread)).values).at(-1)!.content).toBe('Ada 1')
})

test('the replay of a function that leaves out a step fails', async () => {
  const thread = newThread()
  let made = 0
  const agent = defineAgent({
    async run({ step, interrupt }) {
      if (made++ === 0) await step(() => 1)
      await interrupt('go on?')
    },
  })
  const first = await run(agent, thread, ask)
  await expect(run(agent, thread, answers({ [asked(first).interrupt_id]: 1 }))).rejects.toThrow(
    /ran differently when it was replayed.*interrupt/s,
  )
})
