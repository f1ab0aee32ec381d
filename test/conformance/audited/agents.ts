import { setTimeout as sleep } from 'node:timers/promises'
import { type Agent, defineAgent } from '../../../src/index.ts'

/** Agents without LangGraph that do what the audits of a server ask for. */
export const functions: Readonly<Record<string, Agent>> = {
  echo: defineAgent({
    async run({ message }) {
      await message('Hello to you.')
    },
  }),
  interrupt: defineAgent({
    async run({ interrupt, message }) {
      await message(`You said ${await interrupt<string>({ question: 'Shall I?' })}.`)
    },
  }),
  slow: defineAgent({
    async run({ message, signal }) {
      const reply = message()
      for (let word = 0; word < 20; word++) {
        await reply.text(`${word} `)
        await sleep(100, undefined, { signal })
      }
      await reply.end()
    },
  }),
  failing: defineAgent({
    async run() {
      throw new Error('This agent always fails.')
    },
  }),
  custom: defineAgent({
    async run({ custom, message }) {
      await custom('progress', { done: 1 })
      await custom({ halfway: true })
      await message('Done.')
    },
  }),
  tools: defineAgent({
    async run({ tool, message }) {
      await tool('add', { a: 2, b: 3 }, ({ output }) => output('5').then(() => 5))
      await message('It is five.')
    },
  }),
  nested: defineAgent({
    async run({ subagent, message }) {
      await subagent('researcher', 'Find x.', async (own) => {
        await own.tool('look', { at: 'x' }, () => 'x is 5')
        await own.message('x is 5')
      })
      await message('The answer is 5.')
    },
  }),
}

/** What `serverAudits` is told of them. */
export const audited = {
  assistantId: 'echo',
  agents: {
    interrupt: 'interrupt',
    slow: 'slow',
    failing: 'failing',
    custom: 'custom',
    tools: 'tools',
    nested: 'nested',
  },
} as const
