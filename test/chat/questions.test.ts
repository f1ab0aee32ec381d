import { describe, expect, it } from 'vitest'
import { answerOf } from '../../examples/chat/lib/answers.ts'
import { questionsOf, rejection, responsesOf, spokenAnswer } from '../../examples/chat/lib/questions.ts'

const calls = {
  actionRequests: [
    { name: 'send_email', args: { to: 'ada' } },
    { name: 'delete_file', args: {} },
  ],
  reviewConfigs: [
    { actionName: 'send_email', allowedDecisions: ['approve', 'edit', 'reject'] },
    { actionName: 'delete_file', allowedDecisions: ['reject', 'approve'] },
  ],
}

describe('questions of an interrupt', () => {
  it('asks once for each call, with the decisions that are allowed for its tool', () => {
    expect(questionsOf({ id: 'i', value: calls })).toEqual([
      {
        key: 'i 0',
        interruptId: 'i',
        kind: 'action',
        action: { name: 'send_email', args: { to: 'ada' }, allowed: ['approve', 'edit', 'reject'] },
      },
      {
        key: 'i 1',
        interruptId: 'i',
        kind: 'action',
        action: { name: 'delete_file', args: {}, allowed: ['approve', 'reject'] },
      },
    ])
  })

  it('reads the names of Python', () => {
    const value = {
      action_requests: [{ action_name: 'send_email', args: { to: 'ada' } }],
      review_configs: [{ action_name: 'send_email', allowed_decisions: ['approve'] }],
    }
    expect(questionsOf({ id: 'i', value })).toMatchObject([
      { action: { name: 'send_email', args: { to: 'ada' }, allowed: ['approve'] } },
    ])
  })

  it('allows everything where nothing is said about it', () => {
    const [question] = questionsOf({ id: 'i', value: { actionRequests: [{ name: 'send', args: {} }] } })
    expect(question).toMatchObject({ action: { allowed: ['approve', 'edit', 'reject'] } })
  })

  it('takes a string, and an object with a question, as words', () => {
    expect(questionsOf({ id: 'i', value: 'Go on?' })).toMatchObject([{ kind: 'text', text: 'Go on?' }])
    expect(questionsOf({ id: 'i', value: { question: 'Go on?' } })).toMatchObject([{ text: 'Go on?' }])
  })

  it('takes anything else as data', () => {
    for (const value of [undefined, null, 3, [1], { actionRequests: [] }, { question: 3 }])
      expect(questionsOf({ id: 'i', value })).toEqual([{ key: 'i', interruptId: 'i', kind: 'data', value }])
  })
})

describe('responses', () => {
  it('are a list of decisions for the calls of an interrupt, and the answer itself for another one', () => {
    const questions = [
      { id: 'i', value: calls },
      { id: 'j', value: 'Who?' },
    ].flatMap(questionsOf)
    const reject = { type: 'reject', message: 'No' }
    const answers = { 'i 1': reject, j: 'Me', 'i 0': { type: 'approve' } }
    expect(responsesOf(questions, answers)).toEqual({
      i: { decisions: [{ type: 'approve' }, reject] },
      j: 'Me',
    })
  })
})

describe('a rejection', () => {
  it('tells the agent what was rejected, and why where the user says so', () => {
    expect(rejection(' ')).toEqual({ type: 'reject', message: 'The user rejected this call.' })
    expect(rejection(' Bob is away ')).toMatchObject({ message: 'The user rejected this call: Bob is away' })
  })
})

describe('an answer of unknown form', () => {
  it('is JSON where it looks like JSON', () => {
    expect(answerOf(' {"a": [1]}')).toEqual({ answer: { a: [1] } })
    expect(answerOf('true')).toEqual({ answer: true })
    expect(answerOf('-1.5')).toEqual({ answer: -1.5 })
    expect(answerOf('"text"')).toEqual({ answer: 'text' })
  })

  it('is text otherwise', () => {
    for (const text of ['yes', 'true love', '3 apples', '', 'nullable'])
      expect(answerOf(text)).toEqual({ answer: text })
  })

  it('has a fault in words where it begins like JSON and is none', () => {
    expect(answerOf('{"a":').fault).toMatch(/^This is not JSON: /)
    expect(answerOf('[1,]').fault).toMatch(/^This is not JSON: /)
  })
})

describe('a text that is sent while a question waits', () => {
  const call = (allowed: readonly string[]) => [
    {
      id: 'i',
      value: {
        actionRequests: [{ name: 'send', args: {} }],
        reviewConfigs: [{ actionName: 'send', allowedDecisions: allowed }],
      },
    },
  ]
  const all = ['approve', 'edit', 'reject']

  it.each([
    ['yes', { type: 'approve' }],
    ['OK!', { type: 'approve' }],
    ['Go ahead.', { type: 'approve' }],
    ['no', rejection('')],
    ['To Bob, not Ann', rejection('To Bob, not Ann')],
    ['yes, but to Bob', rejection('yes, but to Bob')],
    ['not yet', rejection('not yet')],
  ])('decides about a call: %s', (text, decision) => {
    expect(spokenAnswer(call(all), text)).toEqual({ i: { decisions: [decision] } })
  })

  it('answers a question', () => {
    expect(spokenAnswer([{ id: 'q', value: 'Which city?' }], ' Rome ')).toEqual({ q: 'Rome' })
    expect(spokenAnswer([{ id: 'q', value: { pick: [1, 2] } }], '{"n":1}')).toEqual({ q: { n: 1 } })
  })

  it('is none where several wait, or where the agent does not allow it', () => {
    expect(
      spokenAnswer(
        [
          { id: 'q', value: 'A?' },
          { id: 'r', value: 'B?' },
        ],
        'yes',
      ),
    ).toBeUndefined()
    expect(spokenAnswer(call(['approve']), 'later')).toBeUndefined()
    expect(spokenAnswer(call(['reject']), 'yes')).toBeUndefined()
    expect(spokenAnswer(call(all), ' ')).toBeUndefined()
  })
})
