import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { reachOf } from '../../src/core/egress/address.ts'
import { checkAddresses, checkUrl } from '../../src/core/egress/check-url.ts'
import { createDelivery } from '../../src/core/egress/delivery.ts'
import { DeliveryError } from '../../src/core/egress/errors.ts'
import { anyCharacter, anyUrl } from '../kit/arbitraries.ts'

/** Why a URL is refused, or undefined. */
function refusal(
  url: string,
  allowLoopback = false,
  allow: readonly string[] = [],
  isResolved = true,
): string | undefined {
  try {
    checkUrl(url, { allowLoopback, allow }, isResolved)
  } catch (error) {
    expect(error).toBeInstanceOf(DeliveryError)
    expect((error as DeliveryError).retryable).toBe(false)
    return (error as DeliveryError).code
  }
  return undefined
}

const LOOPBACK = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '017700000001',
  '0x7f000001',
  '0x7F.1',
  '0177.0.0.1',
  '0x7f.0x0.0x0.0x1',
  '127.0.0.01',
  '%31%32%37.0.0.1',
  '①②⑦.⓪.⓪.①',
  '１２７.０.０.１',
  '127。0。0。1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::0.0.0.1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'localhost..',
  'loc%61lhost',
  'ｌocalhost',
  'a.localhost',
  'a.b.localhost.',
]

const SPECIAL = [
  '0',
  '0.0.0.0',
  '0x0',
  '00.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.1',
  '0xa.1',
  '012.0.0.1',
  '167772161',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '168.63.129.16',
  '169.254.0.1',
  '169.254.169.254',
  '2852039166',
  '0xA9FEA9FE',
  '0251.0376.0251.0376',
  '169.16689662',
  '169.254.170.2',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.257',
  '0xc0a80001',
  '3232235521',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '4294967295',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::FFFF:10.0.0.1]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '[::ffff:8.8.8.8]',
  '[::127.0.0.1]',
  '[::a00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::10.0.0.1]',
  '[100::1]',
  '[2001::1]',
  '[2001:0:7f00:1::]',
  '[2001:2::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[3fff::1]',
  '[3fff:fff:ffff::1]',
  '[5f00::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fdff:ffff::1]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[ff0e::1]',
  '[4000::1]',
  'metadata',
  'postgres',
  'kubernetes.default.svc.cluster.local',
  'metadata.google.internal',
  'metadata.google.internal.',
  'printer.local',
  'nas.home.arpa',
  'host.docker.internal',
]

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.17',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '203.0.114.1',
  '223.255.255.255',
  '134744072',
  '0x08080808',
  '[2001:200::1]',
  '[2001:4860:4860::8888]',
  '[2606:4700::1111]',
  '[2a00:1450::1]',
  '[3fff:1000::1]',
  'example.com',
  'example.com.',
  'hooks.example.co.uk',
  'localhost.example.com',
  'notlocalhost.com',
  'internal.example.com',
  'xn--bcher-kva.example',
]

describe('an address in a URL', () => {
  test.each(LOOPBACK)('%s is refused, unless loopback is allowed', (host) => {
    expect(refusal(`http://${host}/hook`)).toBe('address_refused')
    expect(refusal(`https://${host}:8443/`)).toBe('address_refused')
    expect(refusal(`http://${host}/hook`, true)).toBeUndefined()
  })

  test.each(SPECIAL)('%s is always refused', (host) => {
    expect(refusal(`http://${host}/hook`)).toBe('address_refused')
    expect(refusal(`https://${host}:443`, true)).toBe('address_refused')
  })

  test.each(PUBLIC)('%s is allowed', (host) => {
    expect(refusal(`https://${host}/hook?a=b`)).toBeUndefined()
  })

  test.each([
    '',
    'example.com/hook',
    '//example.com/hook',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'data:text/plain,hi',
    'javascript:alert(1)',
    'unix:/var/run/docker.sock',
    'http://',
    'http://[fe80::1%25eth0]/',
    'http://[::1%lo]/',
    'http://[::1]]/',
    'http://1.2.3.4.5/',
    'http://256.0.0.1/',
    'http://0x100000000/',
    'http://a b.com/',
    'http://example.com:99999/',
    'http://user@example.com/',
    'http://user:secret@example.com/',
    'http://:secret@example.com/',
    'http://example.com@127.0.0.1/',
    'http://127.0.0.1\\@example.com@127.0.0.1/',
  ])('%j is no URL to deliver to', (url) => {
    expect(['invalid_request', 'address_refused']).toContain(refusal(url, false))
    if (!url.includes('127.0.0.1\\')) expect(refusal(url, true)).toBe('invalid_request')
  })

  test('the message of a refusal says nothing of the URL', () => {
    for (const url of ['http://10.0.0.1/secret', 'http://user:secret@example.com/', 'secret'])
      expect(() => checkUrl(url)).toThrow(
        expect.not.objectContaining({ message: expect.stringMatching(/secret|10\.0/) }),
      )
  })
})

/** The first and the last address of each block that must not be called, and how long its prefix is. */
const BLOCKS = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const blocks = BLOCKS.map((block) => {
  const [start, prefix] = block.split('/') as [string, string]
  return { start: numberOf(start), size: 2 ** (32 - Number(prefix)) }
})

function numberOf(dotted: string): number {
  const [a, b, c, d] = dotted.split('.').map(Number) as [number, number, number, number]
  return a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d
}

const bytesOf = (address: number) => [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256)

/** The spellings of an IPv4 address that a URL parser understands. */
const SPELLINGS: readonly ((address: number) => string)[] = [
  (address) => bytesOf(address).join('.'),
  (address) => `${bytesOf(address).join('.')}.`,
  (address) => String(address),
  (address) => `0x${address.toString(16)}`,
  (address) => `0X${address.toString(16).toUpperCase()}`,
  (address) => `0${address.toString(8)}`,
  (address) =>
    bytesOf(address)
      .map((byte) => `0x${byte.toString(16)}`)
      .join('.'),
  (address) =>
    bytesOf(address)
      .map((byte) => `0${byte.toString(8)}`)
      .join('.'),
  (address) => `${bytesOf(address)[0]}.${address % 2 ** 24}`,
  (address) => `${bytesOf(address).slice(0, 2).join('.')}.0x${(address % 2 ** 16).toString(16)}`,
  (address) => [...bytesOf(address).join('.')].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(''),
  (address) => bytesOf(address).join('。'),
  (address) => `[::ffff:${bytesOf(address).join('.')}]`,
  (address) => `[::${bytesOf(address).join('.')}]`,
  (address) => `[64:ff9b::${bytesOf(address).join('.')}]`,
  (address) => `[2002:${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}::1]`,
]

describe('addresses at random', () => {
  const inside = fc
    .tuple(fc.constantFrom(...blocks), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))
    .map(([{ start, size }, at]) => start + Math.floor(at * size))

  test('every spelling of every address of a special block is refused', () => {
    fc.assert(
      fc.property(inside, fc.constantFrom(...SPELLINGS), (address, spell) => {
        expect(refusal(`http://${spell(address)}/`)).toBe('address_refused')
      }),
      { numRuns: 5_000 },
    )
  })

  test('an address outside of the blocks is public, in every spelling that is an IPv4 address', () => {
    const outside = fc.nat(0xffffffff).filter((address) => {
      const reserved = [
        ...blocks,
        { start: numberOf('192.88.99.0'), size: 256 },
        { start: numberOf('168.63.129.16'), size: 1 },
      ]
      return !reserved.some(({ start, size }) => address >= start && address < start + size)
    })
    fc.assert(
      fc.property(outside, fc.constantFrom(...SPELLINGS.slice(0, 12)), (address, spell) => {
        expect(refusal(`http://${spell(address)}/`)).toBeUndefined()
      }),
      { numRuns: 2_000 },
    )
  })

  test('an IPv6 address is public only within 2000::/3', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
        const reach = reachOf(groups.map((group) => group.toString(16)).join(':'))
        if (groups[0]! >= 0x2000 && groups[0]! <= 0x3ffe && groups[0] !== 0x2001 && groups[0] !== 0x2002)
          expect(reach).toBe('public')
        else if (groups[0]! < 0x2000 || groups[0]! > 0x3fff) expect(reach).toBe('special')
      }),
      { numRuns: 2_000 },
    )
  })

  test('no text makes the check fail in another way', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyCharacter }),
          anyUrl(),
          fc.ipV6().map((ip) => `http://[${ip}]`),
        ),
        (url) => {
          expect([undefined, 'invalid_request', 'address_refused']).toContain(refusal(url))
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('addresses of a name', () => {
  test.each([
    [['127.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['8.8.8.8', '::ffff:10.0.0.1']],
    [['2606:4700::1111', '::1']],
    [['fe80::1%eth0']],
    [['8.8.8.8%eth0']],
    [['example.com']],
    [['']],
    [['8.8.8.8/24']],
    [['user@8.8.8.8']],
    [['8.8.8.8:80']],
    [['134744072']],
    [['010.8.8.8']],
    [['8.8.8.8.']],
    [['::1]/[']],
    [['8.8.8.888']],
    [['face.b00c0']],
    [['1.1.1.b0']],
    [['2606:4700::1111]/[']],
  ])('%j are refused', (addresses) => {
    expect(() => checkAddresses(addresses, {})).toThrow(expect.objectContaining({ code: 'address_refused' }))
  })

  test.each([
    'face.b00c0',
    'abc.de',
    'a.b.c.d1',
    'localhost',
    '1.2.3',
    '0x7f000001',
    '8.8.8.8.8',
    '::g',
    ':::',
  ])('%s is no address', (name) => {
    expect(reachOf(name)).toBeUndefined()
  })

  test('all of them public are allowed, and loopback beside them by option', () => {
    checkAddresses(['8.8.8.8', '2606:4700::1111'], {})
    checkAddresses(['2606:4700:0:0::0.0.17.17'], {})
    checkAddresses(['8.8.8.8', '127.0.0.1', '::1'], { allowLoopback: true })
  })
})

describe('what an operator allows', () => {
  const VPC = ['10.20.0.0/16', 'fd00:ec2::/32', '192.168.1.9', 'hooks.corp.internal', '*.svc.cluster.local']
  test.each([
    ['http://10.20.255.255/', true],
    ['http://10.21.0.0/', false],
    ['http://[fd00:ec2:1::5]/', true],
    ['http://[fd00:ec3::5]/', false],
    ['http://192.168.1.9/', true],
    ['http://0xc0a80109/', true],
    ['http://192.168.1.10/', false],
    ['http://[::ffff:10.20.0.1]/', false],
    ['http://169.254.169.254/', false],
    ['http://127.0.0.1/', false],
    ['http://HOOKS.corp.internal./', true],
    ['http://a.svc.cluster.local/', true],
    ['http://example.com/', true],
  ])('%s is allowed: %s', (url, isAllowed) => {
    expect(refusal(url, false, VPC)).toBe(isAllowed ? undefined : 'address_refused')
    expect(refusal(url, false, VPC, false)).toBe(isAllowed ? undefined : 'address_refused')
  })

  test('a local name is decided by what it leads to, and refused where nobody looks it up', () => {
    for (const url of ['http://other.corp.internal/', 'http://svc.cluster.local/', 'http://hooks/']) {
      expect(refusal(url, false, VPC)).toBeUndefined()
      expect(refusal(url, false, VPC, false)).toBe('address_refused')
      expect(refusal(url, false, ['hooks.corp.internal'])).toBe('address_refused')
    }
    expect(() => checkAddresses(['10.20.0.1', '8.8.8.8'], { allow: VPC }, 'hooks')).not.toThrow()
    expect(() => checkAddresses(['10.20.0.1', '10.0.0.1'], { allow: VPC }, 'hooks')).toThrow(DeliveryError)
    expect(() => checkAddresses(['10.0.0.1'], { allow: VPC }, 'a.svc.cluster.local')).not.toThrow()
  })

  test.each([
    '10.0.0.0/33',
    'fd00::/129',
    '',
    '*',
    '*.',
    'http://x',
    'a b',
    '10.0.0',
    'x:80',
    '10.0.0.0/',
    'a.*.b',
    'a/8',
  ])('%j is refused at once, with a sentence', (entry) => {
    expect(() => createDelivery({ allow: [entry] })).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        message: expect.stringMatching(/^allow: ".*" is not an address/),
      }),
    )
  })

  test('every address is in its own block and in those above it', () => {
    const bits = fc.integer({ min: 0, max: 32 })
    fc.assert(
      fc.property(fc.ipV4(), bits, (address, prefix) => {
        expect(refusal(`http://${address}/`, false, [`${address}/${prefix}`])).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 0, max: 128 }), (address, prefix) => {
        expect(refusal(`http://[${address}]/`, false, [`${address}/${prefix}`])).toBeUndefined()
      }),
    )
  })
})
