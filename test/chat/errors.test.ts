import { ProtocolError } from '@langchain/langgraph-sdk'
import { expect, it } from 'vitest'
import { isRefusal, wordsOf } from '../../examples/chat/lib/errors.ts'

const refused = Object.assign(new Error('Protocol request failed: 429 Too Many Requests — Slow down.'), {
  status: 429,
})

it('says an error of the server in the words of the server', () => {
  expect(wordsOf(refused)).toBe('Slow down.')
  expect(wordsOf(new Error('The run failed.'))).toBe('The run failed.')
  expect(wordsOf(undefined)).toBe('Something went wrong.')
})

it('says why a thread could not be read, of which the SDK keeps the status alone', () => {
  const unread = (status: string) => wordsOf(new Error(`Thread state request failed: ${status}`))
  expect(unread('401 Unauthorized')).toBe('Sign in to read this thread.')
  expect(unread('500 Internal Server Error')).toBe('The thread could not be read: the server answered 500.')
})

it('tells a request that was refused from a run that failed', () => {
  expect(isRefusal(refused)).toBe(true)
  const answer = { type: 'error', id: 1, error: 'invalid_argument', message: 'No.' } as const
  expect(isRefusal(new ProtocolError(answer))).toBe(true)
  expect(isRefusal(new Error('The run failed.'))).toBe(false)
  expect(isRefusal(undefined)).toBe(false)
})
