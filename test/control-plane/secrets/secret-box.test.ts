import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSecretBox } from '../../../src/control-plane/secrets/secret-box.ts'
import { anyCharacter } from '../../kit/arbitraries.ts'

const newKey = () => randomBytes(32).toString('base64')
const PLACE = 'deployment:1'

test('what is sealed is opened again, and shows nothing of the value', async () => {
  const box = createSecretBox({ key: newKey() })
  const secrets = [
    { name: 'API_KEY', value: 'very secret value' },
    { name: 'EMPTY', value: '' },
    { name: 'LINES', value: 'one\ntwo\u0000three \ud83d\ude80' },
  ]
  const sealed = await box.seal(PLACE, secrets)
  expect(sealed.map(({ name }) => name)).toEqual(['API_KEY', 'EMPTY', 'LINES'])
  expect(JSON.stringify(sealed)).not.toContain('very')
  expect(sealed[0]!.sealed).toMatch(/^1\.[\w-]{8}\.[\w-]+$/)
  expect(await box.open(PLACE, sealed)).toEqual(secrets)
})

test('any text is kept as it is, also text that UTF-8 cannot write', async () => {
  const box = createSecretBox({ key: newKey() })
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: anyCharacter }),
        fc.constantFrom('\ud800', '\0', '\0"a"', '\ufeffbom', 'a\udfffb'),
      ),
      async (value) => {
        const sealed = await box.seal(PLACE, [{ name: 'A', value }])
        expect(await box.open(PLACE, sealed)).toEqual([{ name: 'A', value }])
      },
    ),
    { numRuns: 100 },
  )
})

test('the same value is sealed differently each time', async () => {
  const box = createSecretBox({ key: newKey() })
  const [first] = await box.seal(PLACE, [{ name: 'A', value: 'same' }])
  const [second] = await box.seal(PLACE, [{ name: 'A', value: 'same' }])
  expect(first!.sealed).not.toBe(second!.sealed)
})

test('a value that was moved to another place or name is not opened', async () => {
  const box = createSecretBox({ key: newKey() })
  const [{ sealed } = { sealed: '' }] = await box.seal(PLACE, [{ name: 'A', value: 'secret value' }])
  const moved = { code: 'secret_unreadable', message: expect.not.stringContaining('secret value') }
  await expect(box.open('deployment:2', [{ name: 'A', sealed }])).rejects.toMatchObject(moved)
  await expect(box.open(PLACE, [{ name: 'B', sealed }])).rejects.toMatchObject(moved)
})

test('no changed character of a sealed value goes unnoticed', async () => {
  const box = createSecretBox({ key: newKey() })
  const [{ sealed } = { sealed: '' }] = await box.seal(PLACE, [{ name: 'A', value: 'v' }])
  for (let at = 0; at < sealed.length - 1; at++) {
    const other = sealed[at] === 'A' ? 'B' : 'A'
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1)
    await expect(box.open(PLACE, [{ name: 'A', sealed: changed }])).rejects.toMatchObject({
      code: 'secret_unreadable',
    })
  }
  for (const text of ['', '1', '1..', '2.a.b', `${sealed}.x`, sealed.slice(0, 20), 'x'.repeat(100)])
    await expect(box.open(PLACE, [{ name: 'A', sealed: text }])).rejects.toMatchObject({
      code: 'secret_unreadable',
    })
})

test('another key opens nothing, and says what to look at', async () => {
  const [{ sealed } = { sealed: '' }] = await createSecretBox({ key: newKey() }).seal(PLACE, [
    { name: 'A', value: 'v' },
  ])
  await expect(createSecretBox({ key: newKey() }).open(PLACE, [{ name: 'A', sealed }])).rejects.toThrow(
    'The secret A cannot be decrypted: the key that encrypted it is not in `secrets.key`.',
  )
})

test('keys are rotated: the first one seals, all open, and what was sealed again needs no old one', async () => {
  const [old, next] = [newKey(), newKey()]
  const before = createSecretBox({ key: old })
  const during = createSecretBox({ key: [next, old] })
  const after = createSecretBox({ key: next })
  const secrets = [
    { name: 'A', value: 'first' },
    { name: 'B', value: 'second' },
  ]
  const sealed = await before.seal(PLACE, secrets)
  expect(await during.open(PLACE, sealed)).toEqual(secrets)
  expect(await after.open(PLACE, await during.seal(PLACE, secrets))).toEqual(secrets)
  await expect(after.open(PLACE, sealed)).rejects.toThrow('not in `secrets.key`')
})

test('signatures are made with the first key and verified with all', async () => {
  const [old, next] = [newKey(), newKey()]
  const before = createSecretBox({ key: old })
  const during = createSecretBox({ key: [next, old] })
  const after = createSecretBox({ key: next })
  const signature = await before.sign('upload path')
  expect(signature).toMatch(/^[\w-]{43}$/)
  expect(await during.verify('upload path', signature)).toBe(true)
  expect(await after.verify('upload path', signature)).toBe(false)
  expect(await after.verify('upload path', await during.sign('upload path'))).toBe(true)
  expect(await before.verify('upload path2', signature)).toBe(false)
  for (const text of ['', 'x', `${signature}=`, signature.slice(0, -1), `${signature}A`, '\ud800', 'é'])
    expect(await before.verify('upload path', text)).toBe(false)
})

test('keys are taken in both alphabets, with and without padding', async () => {
  const bytes = Buffer.alloc(32, 0xfb)
  const [standard, url] = [bytes.toString('base64'), bytes.toString('base64url')]
  expect(standard).toContain('+')
  const sealed = await createSecretBox({ key: standard }).seal(PLACE, [{ name: 'A', value: 'v' }])
  expect(await createSecretBox({ key: ` ${url}\n` }).open(PLACE, sealed)).toEqual([{ name: 'A', value: 'v' }])
})

test('a key that is none is refused with how to make one, and is not repeated', () => {
  const short = randomBytes(16).toString('base64')
  const wrong: readonly unknown[] = [
    '',
    [],
    'hello world',
    short,
    [newKey(), short],
    undefined,
    'a'.repeat(45),
  ]
  for (const key of wrong) {
    const make = () => createSecretBox({ key: key as string })
    expect(make).toThrow('openssl rand -base64 32')
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_key' }))
    expect(make).not.toThrow(short)
  }
})
