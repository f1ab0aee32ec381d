import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { expect, test } from 'vitest'
import { titleOf } from '../../examples/chat/lib/titles.ts'

const turn = (question: string, answer: string) => ({
  id: 't',
  question: new HumanMessage(question),
  answer: [new AIMessage(answer)],
})

test.each([
  ['the heading of the answer', 'Tell me a story', '# The *miller*\n\nOnce', 'The miller'],
  ['the question without one', ' What is\n6 * 7? ', '42', 'What is 6 * 7?'],
  ['no comment in code', 'A script', '```sh\n# install\n```', 'A script'],
  [
    'a long question, cut between words',
    `Please ${'tell me more '.repeat(9)}`,
    'No',
    'Please tell me more tell me more tell me more tell me more…',
  ],
])('a title is %s', (_, question, answer, title) => {
  expect(titleOf(turn(question, answer), [])).toBe(title)
})

test('no two titles are the same', () => {
  expect(titleOf(turn('Hello', ''), ['Hello', 'Hello (2)', 'Hello (4)'])).toBe('Hello (3)')
})

test('a turn without words has no title', () => {
  expect(titleOf({ id: 't', question: undefined, answer: [] }, [])).toBeUndefined()
})
