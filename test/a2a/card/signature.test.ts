import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import fc from 'fast-check'
import { exportJWK, flattenedVerify, generateKeyPair } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { canonical, signCards } from '../../../src/faces/a2a/card/signature.ts'
import { anyCharacter } from '../../kit/arbitraries.ts'
import { type CardServerOptions, cardServer, readCard } from './cards.ts'

const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
// The official verifier reports each signature that it could not verify.
vi.spyOn(console, 'debug').mockReturnValue()
const sign = signCards({ key: privateKey, alg: 'ES256', kid: 'key-1', jku: 'https://agents.test/jwks.json' })

/** Whether a signature of the card is over what `form` makes of it. */
async function isSigned(card: Record<string, unknown>, form: (content: unknown) => string): Promise<boolean> {
  const { signatures, ...content } = card
  const payload = Buffer.from(form(content)).toString('base64url')
  const verified = (signatures as { protected: string; signature: string }[]).map((jws) =>
    flattenedVerify({ ...jws, payload }, publicKey).then(
      () => true,
      () => false,
    ),
  )
  return (await Promise.all(verified)).includes(true)
}

/** Another implementation of RFC 8785 for what cards consist of. */
const sorted = (content: unknown): string =>
  JSON.stringify(content, (_, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

const SERVERS: readonly (readonly [string, CardServerOptions])[] = [
  ['without authentication', { card: { sign, url: 'https://agents.test' } }],
  // Scopes and mutual TLS are empty messages, which the official verifier leaves out and the specification keeps.
  [
    'with empty messages',
    {
      authenticate: Object.assign(() => null, {
        schemes: { token: { type: 'http', scheme: 'bearer' }, certificate: { type: 'mutualTLS' } } as const,
      }),
      card: {
        sign,
        url: 'https://agents.test',
        extensions: [{ uri: 'https://agents.test/ext', params: { empty: [], none: null } }],
      },
    },
  ],
]

describe.each(SERVERS)('the signed card of a server %s', (_, options) => {
  test.each(['1.0', undefined])(
    'is verified by the official verifier, asked for with version %s',
    async (version) => {
      const card: AgentCard = await readCard(cardServer(options), { version })
      const asked = vi.fn(async () => publicKey)
      await verifyAgentCardSignature(asked)(card)
      expect(asked).toHaveBeenCalledWith('key-1', 'https://agents.test/jwks.json')
    },
  )

  test.each(['1.0', '0.3', undefined])('is signed as it was sent, in version %s', async (version) => {
    expect(await isSigned(await readCard(cardServer(options), { version }), sorted)).toBe(true)
  })

  test('is not verified once it was changed', async () => {
    const card = await readCard(cardServer(options), { version: '1.0' })
    const changed: AgentCard = { ...card, name: 'Mallory' }
    await expect(verifyAgentCardSignature(async () => publicKey)(changed)).rejects.toThrow(
      'No valid signatures',
    )
    expect(await isSigned({ ...card, name: 'Mallory' }, sorted)).toBe(false)
  })
})

test('a card is signed once, and another one again', async () => {
  const [first] = await sign({ name: 'a', url: 'https://agents.test' })
  expect(await sign({ url: 'https://agents.test', name: 'a', signatures: [first] })).toEqual([first])
  expect(await sign({ name: 'b', url: 'https://agents.test' })).not.toEqual([first])
})

test('the key may be a JSON Web Key, and a key that does not fit is told each time', async () => {
  const byJwk = signCards({
    key: (await exportJWK(privateKey)) as { kty: string },
    alg: 'ES256',
    kid: 'key-1',
  })
  const card = { name: 'a' }
  expect(await isSigned({ ...card, signatures: await byJwk(card) }, sorted)).toBe(true)
  const unfit = signCards({ key: publicKey, alg: 'ES256', kid: 'key-1' })
  await expect(unfit(card)).rejects.toThrow()
  await expect(unfit(card)).rejects.toThrow()
})

test('the canonical text is that of RFC 8785', () => {
  // The properties of §3.2.3, and the values of §3.2.2.
  const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 }
  expect([...canonical(names).matchAll(/:(\d)/g)].map(([, value]) => Number(value))).toEqual([
    2, 4, 6, 7, 1, 5, 3,
  ])
  expect(
    canonical({ numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0], literals: [null, true, false] }),
  ).toBe('{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0]}')
  expect(canonical({ string: '\u20ac$\u000f\nA\'B"\\\\"/' })).toBe(
    '{"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
})

test('the canonical text of any JSON says the same, whatever the order of its members', () => {
  const shuffled = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(shuffled)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([name, member]) => [name, shuffled(member)]),
          )
        : value
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      const text = canonical(value)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonical(shuffled(value))).toBe(text)
    }),
  )
})
