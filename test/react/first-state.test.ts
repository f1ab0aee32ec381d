import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'
import { hasReached, viewOf, withFirst } from '../../src/clients/react/first-state.ts'

const ai = (id: string, content: string) => new AIMessage({ id, content })
const human = (id: string, content: string) => new HumanMessage({ id, content })
const shown = (messages: readonly BaseMessage[]) => messages.map(({ id, text }) => `${id} ${text}`)

describe('the first state of a page', () => {
  const first = [human('a', 'Hi'), ai('b', 'Hello the')]

  test('is shown until the stream has as much of it', () => {
    for (const now of [[], [human('a', 'Hi')], [human('a', 'Hi'), ai('b', '')], [ai('b', 'Hell')]]) {
      expect(hasReached(first, now)).toBe(false)
      expect(shown(withFirst(first, now))).toEqual(['a Hi', 'b Hello the'])
    }
    const now = [human('a', 'Hi'), ai('b', 'Hello there')]
    expect(hasReached(first, now)).toBe(true)
    expect(shown(withFirst(first, now))).toEqual(['a Hi', 'b Hello there'])
  })

  test('has what a user sends meanwhile behind it', () => {
    const now = [human('a', 'Hi'), human('c', 'And?')]
    expect(hasReached(first, now)).toBe(false)
    expect(shown(withFirst(first, now))).toEqual(['a Hi', 'b Hello the', 'c And?'])
  })

  test('is over when the agent has begun another message, for example after a lost attempt', () => {
    expect(hasReached(first, [human('a', 'Hi'), ai('d', '')])).toBe(true)
  })

  test('counts text and reasoning of blocks', () => {
    const thinking = (reasoning: string) =>
      new AIMessage({ id: 'b', content: [{ type: 'reasoning', reasoning }] as never })
    expect(hasReached([thinking('So far')], [thinking('So')])).toBe(false)
    expect(hasReached([thinking('So far')], [thinking('So far')])).toBe(true)
  })

  test('has the messages that LangChain knows, the questions, and whether a run is active', () => {
    const messages = [{ type: 'human', id: 'a', content: 'Hi' }, { type: 'odd' }, 7]
    const view = viewOf({ values: { messages, files: {} }, next: ['model'], tasks: [{ interrupts: [] }] })
    expect(view).toMatchObject({ isRunning: true, interrupts: [], values: { files: {} } })
    expect(shown(view.messages)).toEqual(['a Hi'])
    const asking = viewOf({ values: {}, next: ['ask'], tasks: [{ interrupts: [{ id: 'q' }] }] })
    expect(asking).toMatchObject({ isRunning: false, interrupts: [{ id: 'q' }], messages: [] })
  })
})
