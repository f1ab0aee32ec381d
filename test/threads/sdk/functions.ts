import { extensionProjection, messagesProjection } from '@langchain/langgraph-sdk/stream'
import { expect } from 'vitest'
import { type AgentContext, defineAgent } from '../../../src/index.ts'
import type { Json } from '../../kit/events.ts'
import { untilStore } from '../../kit/stream-store.ts'
import { gate } from '../../kit/wait.ts'
import type { Scenario } from './scenarios.ts'
import { brief, briefly, human, setStage, shows } from './stage.ts'

/** One agent that does everything a plain function can do. */
const helper = defineAgent({
  async run({ custom, interrupt, message, subagent, tool }: AgentContext) {
    const opening = message()
    await opening.text('Let me ')
    await opening.text('see.')
    await opening.end()
    await custom('progress', { done: 1 })
    const sum = await tool('add', { a: 2, b: 3 }, () => 5)
    const found = await subagent('researcher', 'Find x', async (inside) => {
      await inside.tool('look', { where: 'here' }, () => 'nothing')
      await inside.message('x is 5')
    })
    const answer = await interrupt<string>({ question: 'go?' })
    await message(`${sum}, ${found}, ${answer}`)
  },
})

/** Agents made by `defineAgent`, driven by the same clients. */
export const functions: Readonly<Record<string, Scenario>> = {
  async 'pages show text, a tool, a subagent, a custom event and an interrupt, live and when opened later'(
    target,
    sdk,
  ) {
    const stage = await setStage(target, { helper }, { sdk })
    const page = stage.page('helper')
    await page.submit(human('Help'))
    const { interrupt, threadId, toolCalls } = await untilStore(
      page.rootStore,
      (now) => now.interrupts.length === 1 && now.messages.length === 6,
    )
    const begun = ['human: Help', 'ai: Let me see.', 'ai -> add', 'tool: 5', 'ai -> task', 'tool: x is 5']
    expect(briefly(page)).toEqual(begun)
    expect(interrupt!.value).toEqual({ question: 'go?' })
    expect((toolCalls as Json[]).find(({ name }) => name === 'add')).toMatchObject({
      status: 'finished',
      input: { a: 2, b: 3 },
    })
    const [card] = [...page.subagentStore.getSnapshot().values()]
    expect(card).toMatchObject({ name: 'researcher', taskInput: 'Find x', status: 'complete' })
    const progress = page.registry.acquire(extensionProjection('progress', []))
    expect(await untilStore(progress.store, (value) => value !== undefined)).toEqual({ done: 1 })
    const inside = page.registry.acquire(messagesProjection(card!.namespace))
    expect((await untilStore(inside.store, (list) => list.length === 4)).map(brief)).toEqual([
      'human: Find x',
      'ai -> look',
      'tool: nothing',
      'ai: x is 5',
    ])

    const reloaded = stage.page('helper', { threadId })
    await reloaded.hydrationPromise
    await shows(reloaded, begun)
    await reloaded.respond('yes', { interruptId: reloaded.rootStore.getSnapshot().interrupt!.id! })
    const whole = [...begun, 'ai: 5, x is 5, yes']
    await shows(reloaded, whole)
    await shows(page, whole)

    const late = stage.page('helper', { threadId })
    await shows(late, whole)
    const cards = await untilStore(
      late.subagentStore,
      (now) => [...now.values()][0]?.namespace[0] === card!.namespace[0],
    )
    const history = late.registry.acquire(messagesProjection([...cards.values()][0]!.namespace))
    expect((await untilStore(history.store, (list) => list.length === 4)).map(brief).at(-1)).toBe(
      'ai: x is 5',
    )
  },

  async 'a run follows an error and a stop'(target, sdk) {
    let turn = 0
    const { opened: reached, open: reach } = gate()
    const moody = defineAgent({
      async run({ message, signal }: AgentContext) {
        turn++
        if (turn === 1) throw new Error('kaput')
        if (turn === 2) {
          const half = message()
          await half.text('one ')
          reach()
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        }
        await message('well')
      },
    })
    const stage = await setStage(target, { moody }, { sdk })
    const page = stage.page('moody')
    await page.submit(human('first'))
    expect(page.rootStore.getSnapshot()).toMatchObject({ isLoading: false, error: { message: 'kaput' } })
    const { threadId } = page.rootStore.getSnapshot()
    for (let at = 0; at < 3; at++) await stage.client.threads.getState(threadId!)
    const second = page.submit(human('second'))
    await reached
    await untilStore(page.rootStore, () => briefly(page).at(-1) === 'ai: one ')
    await page.stop()
    await second
    await stage.idle(threadId!)
    const later = stage.page('moody', { threadId })
    await shows(later, ['human: first', 'human: second', 'ai: one '])
    await later.submit(human('third'))
    await untilStore(later.rootStore, (now) => !now.isLoading && briefly(later).at(-1) === 'ai: well')
    expect(briefly(later).filter((text) => text.startsWith('human'))).toEqual([
      'human: first',
      'human: second',
      'human: third',
    ])
  },
}
