import { describe, expect, it } from 'vitest'
import { wordsOf } from '../../examples/chat/lib/errors.ts'
import { lastLineOf, stateOf } from '../../examples/chat/lib/subagents.ts'

describe('the state of a subagent', () => {
  const running = { status: 'running' } as const
  it('is its own once it has ended', () => {
    const chat = { isLoading: true, interrupts: [] }
    expect(stateOf({ status: 'complete' }, chat)).toBe('Done')
    expect(stateOf({ status: 'error' }, chat)).toBe('Failed')
  })

  it('is that of the run before', () => {
    expect(stateOf(running, { isLoading: true, interrupts: [{}] })).toBe('Running')
    expect(stateOf(running, { isLoading: false, interrupts: [{}] })).toBe('Waiting')
    expect(stateOf(running, { isLoading: false, interrupts: [] })).toBe('Stopped')
  })
})

describe('the last line of an output', () => {
  it('is found in texts, messages, blocks and updates', () => {
    expect(lastLineOf('one\ntwo\n')).toBe('two')
    expect(lastLineOf({ content: 'one\ntwo' })).toBe('two')
    expect(
      lastLineOf({
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      }),
    ).toBe('two')
    expect(lastLineOf({ update: { messages: [{ content: 'two' }] } })).toBe('two')
    expect(lastLineOf(undefined)).toBe('')
  })
})

describe('errors', () => {
  it('are the words of the server', () => {
    expect(wordsOf(new Error('Protocol request failed: 403 Forbidden — You may not do this.'))).toBe(
      'You may not do this.',
    )
    expect(wordsOf('The run failed.')).toBe('The run failed.')
    expect(wordsOf(new Error(''))).toBe('Something went wrong.')
    expect(wordsOf(undefined)).toBe('Something went wrong.')
  })
})
