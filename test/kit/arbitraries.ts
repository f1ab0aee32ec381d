import fc from 'fast-check'

const SURROGATES = { from: 0xd800, count: 0x800 }

/**
 * Any character of Unicode, as the unit `binary` of fast-check has it, for `unit`. That one makes a table of the million characters in
 * each process, which takes more than a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map((at) => String.fromCodePoint(at < SURROGATES.from ? at : at + SURROGATES.count), placeOf)

function placeOf(value: unknown): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined
  if (code === undefined || String.fromCodePoint(code) !== value || /[\ud800-\udfff]/u.test(value))
    throw new Error('No character.')
  return code < SURROGATES.from ? code : code - SURROGATES.count
}

const inPath = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.constantFrom(
      ..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@",
    ),
  },
  { weight: 1, arbitrary: anyCharacter.map(encodeURIComponent) },
)

/** An address with a domain and a path, as `fc.webUrl` gives it. */
export const anyUrl = (schemes: readonly string[] = ['http', 'https']): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...schemes), fc.domain(), fc.array(fc.string({ unit: inPath })))
    .map(([scheme, domain, path]) => `${scheme}://${domain}${path.map((one) => `/${one}`).join('')}`)
