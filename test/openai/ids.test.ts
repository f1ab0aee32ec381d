import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idOf, partsOf } from '../../src/faces/openai/ids.ts'

test('an id gives back its parts, and no other id does', () => {
  const part = fc.oneof(fc.uuid(), fc.string({ minLength: 1, unit: 'grapheme' }), fc.nat().map(String))
  fc.assert(
    fc.property(part, part, (one, other) => {
      const id = idOf('call', one, other)
      expect(partsOf('call', id)).toEqual([one, other])
      expect(partsOf('resp', id)).toBeUndefined()
      expect(encodeURIComponent(id.replaceAll('~', ''))).toBe(id.replaceAll('~', ''))
    }),
  )
})

test.each([
  'call_1',
  'call_',
  'call_abc',
  'call_~.~',
  'call_1.x',
  'call_~YQ.~_w',
  'call_0123456789abcdef0123456789abcdef',
])('%s is the id of somebody else', (id) => expect(partsOf('call', id)).toBeUndefined())
