import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maskSecrets } from '../../../src/control-plane/secrets/mask.ts'

test('every occurrence is replaced, the longest value first', () => {
  const mask = maskSecrets(['hunter2', 'hunter2-long', 'a.b*c'])
  expect(mask('hunter2 and hunter2-long, hunter2.')).toBe('*** and ***, ***.')
  expect(mask('a.b*c axbxc')).toBe('*** axbxc')
  expect(mask('nothing here')).toBe('nothing here')
})

test('values that overlap in the text are hidden whole', () => {
  const mask = maskSecrets(['abcdef', 'defghi', 'aaaa'])
  expect(mask('abcdefghi')).toBe('***')
  expect(mask('aaaaaaa!')).toBe('***!')
})

test('values of fewer than four characters are left, since they are in too many words', () => {
  expect(maskSecrets(['', 'on', 'yes', 'true'])('on, yes and true')).toBe('on, yes and ***')
  expect(maskSecrets([])('unchanged')).toBe('unchanged')
})

test('values of several lines are hidden line by line', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADAN\r\n  qhkiG9w0BAQE\n}\n'
  const mask = maskSecrets([key])
  expect(['line MIIEvQIBADAN', 'qhkiG9w0BAQE', '}'].map(mask)).toEqual(['line ***', '***', '}'])
  expect(mask(JSON.stringify({ key }))).not.toMatch(/MII|qhk/)
})

test.each([
  ['JSON', (text: string) => JSON.stringify({ text })],
  ['base64', (text: string) => Buffer.from(text).toString('base64')],
  ['base64url', (text: string) => Buffer.from(text).toString('base64url')],
  ['base64 of a longer text', (text: string) => Buffer.from(`user:${text}.`).toString('base64')],
  ['base64 of another longer text', (text: string) => Buffer.from(`user1:${text}!`).toString('base64')],
  ['a URL', (text: string) => `https://host/?a=${encodeURIComponent(text)}&b=1`],
  ['a form', (text: string) => new URLSearchParams({ text }).toString()],
  [
    'lower-case escapes',
    (text: string) => encodeURIComponent(text).replace(/%../g, (at) => at.toLowerCase()),
  ],
])('a value is hidden in %s', (_, encode) => {
  const secret = `p@ss "w/o\\rd"+&=?~'!()*é–ü${'\t'}1234567890`
  const shown = maskSecrets([secret])(encode(secret))
  expect(shown).toContain('***')
  expect(shown).not.toMatch(/1234567890|p%40ss|p@ss/i)
  // Of base64 no more than the characters stay that also depend on the neighbours.
  const whole = Buffer.from(secret).toString('base64')
  for (let at = 0; at + 8 <= whole.length; at++) expect(shown).not.toContain(whole.slice(at, at + 8))
})

test('whatever the values and the text, no value is left in it', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '*', '+', '%', '\n', '\ud800', 'é'),
    maxLength: 40,
  })
  fc.assert(
    fc.property(
      fc.array(
        text.filter((value) => value.length >= 4 && value.trim() === value && !value.includes('***')),
        {
          maxLength: 5,
        },
      ),
      fc.array(text),
      (secrets, around) => {
        const mask = maskSecrets(secrets)
        const shown = mask(around.map((part, at) => part + (secrets[at] ?? '')).join(''))
        // A mask may stand beside stars of the text.
        for (const part of shown.split('***'))
          for (const secret of secrets) expect(part.includes(secret)).toBe(false)
      },
    ),
    { numRuns: 500 },
  )
})

test('long hostile lines take no time worth a word', () => {
  const mask = maskSecrets([
    'aaaaaaaaab',
    ...Array.from({ length: 100 }, (_, i) => `secret value number ${i}`),
  ])
  const before = process.cpuUsage()
  mask('a'.repeat(1_000_000))
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000)
})
