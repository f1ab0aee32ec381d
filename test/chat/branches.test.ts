import { expect, test } from 'vitest'
import { type Checkpoint, turnHistories } from '../../examples/chat/lib/branches.ts'

/** Checkpoints as `id<parent source`, oldest first, one second apart. */
const newestFirst = (...lines: readonly string[]): readonly Checkpoint[] =>
  lines
    .map((line, at) => {
      const [id = '', parentId = '', source = ''] = line.split(/[< ]/)
      return { id, parentId: parentId || null, source, at: new Date(at * 1000).toISOString() }
    })
    .toReversed()

const TWO_TURNS = ['a< input', 'b<a loop', 'c<b loop', 'd<c input', 'e<d loop', 'f<e loop']

test('each turn begins with an input checkpoint and is forked from the one before it', () => {
  expect(turnHistories(newestFirst(...TWO_TURNS))).toEqual([
    { forkFrom: 'c', versions: ['f'], shown: 0, ms: 2000 },
    { forkFrom: 'a', versions: ['f'], shown: 0, ms: 2000 },
  ])
})

test('two inputs after one checkpoint are versions of one turn, and the newest branch is shown', () => {
  const [second, first] = turnHistories(newestFirst(...TWO_TURNS, 'g<c input', 'h<g loop'))
  expect(second).toMatchObject({ forkFrom: 'c', versions: ['f', 'h'], shown: 1 })
  expect(first).toMatchObject({ versions: ['h'], shown: 0 })
})

test('other versions of the first message go on from its own input checkpoint', () => {
  const histories = turnHistories(newestFirst(...TWO_TURNS, 'g<a input', 'h<g loop', 'i<a input', 'j<i loop'))
  expect(histories).toMatchObject([{ forkFrom: 'a', versions: ['f', 'h', 'j'], shown: 2 }])
})

test('a copy that was written from outside shows its branch, and takes no time', () => {
  const copied = newestFirst(...TWO_TURNS, 'g<c input', 'h<g loop', 'i<f fork')
  expect(turnHistories(copied)[0]).toEqual({ forkFrom: 'c', versions: ['i', 'h'], shown: 0, ms: 2000 })
})

test('a turn that has only begun has no time yet', () => {
  const [begun] = turnHistories(newestFirst(...TWO_TURNS, 'g<f input'))
  expect(begun).toEqual({ forkFrom: 'f', versions: ['g'], shown: 0, ms: undefined })
})

test('a page of the history gives the newest turns only', () => {
  const page = newestFirst(...TWO_TURNS).slice(0, 3)
  expect(turnHistories(page)).toMatchObject([{ forkFrom: 'c', versions: ['f'], shown: 0 }])
})

test('a thread without runs has no turns', () => {
  expect(turnHistories([])).toEqual([])
  expect(turnHistories(newestFirst('a< update'))).toEqual([])
})
