import { describe, expect, it } from 'vitest'
import { argumentsOf, faultOf, fieldsOf } from '../../examples/chat/lib/argument-fields.ts'

const args = { to: 'ada', count: 2, urgent: false, tags: ['a'], reply: null }

describe('fields of arguments', () => {
  it('have the type of their argument', () => {
    expect(fieldsOf(args).map(({ name, kind }) => [name, kind])).toEqual([
      ['to', 'text'],
      ['count', 'number'],
      ['urgent', 'boolean'],
      ['tags', 'json'],
      ['reply', 'json'],
    ])
  })

  it('give the same arguments back where nothing was written', () => {
    expect(argumentsOf(fieldsOf(args))).toEqual(args)
  })

  it('give what was written, by its type', () => {
    const written: Record<string, string> = {
      to: '7',
      count: '7',
      urgent: 'true',
      tags: '{"a":7}',
      reply: '"7"',
    }
    const fields = fieldsOf(args).map((field) => ({ ...field, text: written[field.name]! }))
    expect(argumentsOf(fields)).toEqual({ to: '7', count: 7, urgent: true, tags: { a: 7 }, reply: '7' })
  })

  it('say in words what is wrong', () => {
    expect(faultOf({ name: 'count', kind: 'number', text: 'two' })).toBe('Write a number.')
    expect(faultOf({ name: 'count', kind: 'number', text: ' ' })).toBe('Write a number.')
    expect(faultOf({ name: 'tags', kind: 'json', text: '[1' })).toMatch(/^This is not JSON: /)
    expect(faultOf({ name: 'to', kind: 'text', text: '' })).toBeUndefined()
  })
})
