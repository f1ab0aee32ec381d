import { describe, expect, test } from 'vitest'
import {
  readAllowed,
  readRepository,
  refuseRef,
} from '../../../../../src/control-plane/deployers/process/source/git.ts'

const allowed = readAllowed([
  'https://git.example.com/team',
  'ssh://git@git.example.com:2222/team/',
  'file:///srv/repos/',
])
const read = (url: string) => readRepository(url, allowed)

describe('a repository that is allowed', () => {
  test.each([
    ['https://git.example.com/team/agent', 'https://git.example.com/team/agent'],
    ['https://git.example.com/team/agent.git', 'https://git.example.com/team/agent.git'],
    ['https://git.example.com/team/agent/', 'https://git.example.com/team/agent'],
    ['HTTPS://GIT.Example.COM:443/team/agent', 'https://git.example.com/team/agent'],
    ['https://git.example.com/team/sub/agent', 'https://git.example.com/team/sub/agent'],
    ['https://git.example.com/team/an%20agent', 'https://git.example.com/team/an%20agent'],
    ['ssh://git@git.example.com:2222/team/agent', 'ssh://git@git.example.com:2222/team/agent'],
    ['file:///srv/repos/agent.git', 'file:///srv/repos/agent.git'],
    ['file:///srv/repos', 'file:///srv/repos'],
  ])('%s', (url, normal) => {
    expect(read(url)).toMatchObject({ url: normal })
  })

  test('the path of a file: URL is decoded', () => {
    expect(read('file:///srv/repos/an%20agent')).toEqual({
      url: 'file:///srv/repos/an%20agent',
      path: '/srv/repos/an agent',
    })
  })
})

const elsewhere = 'Invalid repo_url: this server does not deploy from there.'
const notUrl = 'Invalid repo_url: it must start with https://, ssh:// or file://.'
const oddCharacter = 'Invalid repo_url: it contains a character that is not allowed in a URL.'
const unprintable = 'Invalid repo_url: it contains spaces, control characters or non-ASCII characters.'
const dots = 'Invalid repo_url: its path must not contain "//", "." or "..".'
const escaped = 'Invalid repo_url: it contains an unnecessary percent-escape.'
const credentials = 'Invalid repo_url: it must not contain a user name or password.'
const host = 'Invalid repo_url: its host is not a valid host name or address.'
const query = 'Invalid repo_url: it must not have a query or a fragment.'
const dash = 'Invalid repo_url: no part of its path may begin with "-".'
const fileHost = 'Invalid repo_url: a file:// URL must not name a host: write file:///path.'

describe('a repository that is refused', () => {
  test.each([
    ['https://git.example.com/teams/agent', elsewhere],
    ['https://git.example.com/team.evil/agent', elsewhere],
    ['https://git.example.com/', elsewhere],
    ['https://git.example.com/TEAM/agent', elsewhere],
    ['https://git.example.com.evil.org/team/agent', elsewhere],
    ['https://evil.org/team/agent', elsewhere],
    ['https://git.example.com:8443/team/agent', elsewhere],
    ['http://git.example.com/team/agent', elsewhere],
    ['ssh://git.example.com:2222/team/agent', elsewhere],
    ['ssh://root@git.example.com:2222/team/agent', elsewhere],
    ['ssh://git@git.example.com/team/agent', elsewhere],
    ['file:///etc', elsewhere],
    ['file:///srv/repos-private/agent', elsewhere],
    ['file:///', elsewhere],
    ['https://git.example.com/team/../other', dots],
    ['https://git.example.com/team/./agent', dots],
    ['https://git.example.com/team//agent', dots],
    ['https://git.example.com/team/%2e%2e/other', dots],
    ['https://git.example.com/team/.%2E/other', dots],
    ['https://git.example.com/team/..%2fother', escaped],
    ['https://git.example.com/team/..%5cother', escaped],
    ['https://git.example.com/team/%252e%252e/other', escaped],
    ['https://git.example.com/team/%00', escaped],
    ['https://git.example.com/team/%0a', escaped],
    ['https://git.example.com/team/%zz', escaped],
    ['https://git.example.com/team/%ff', escaped],
    ['file:///srv/repos/../../etc', dots],
    ['file:///srv/repos/%2e%2e/%2e%2e/etc', dots],
    ['https://user:token@git.example.com/team/agent', credentials],
    ['https://user@git.example.com/team/agent', credentials],
    ['https://git.example.com@evil.org/team/agent', credentials],
    ['https://git.example.com%2fteam@evil.org/', credentials],
    ['ssh://git:password@git.example.com:2222/team/agent', credentials],
    ['ssh://-oProxyCommand=id@git.example.com/team/agent', credentials],
    ['ssh://-oProxyCommand=id/team/agent', host],
    ['ssh://-G/team/agent', host],
    ['https:///team/agent', host],
    ['https://[::1]/team/agent', host],
    ['https://git.example.com:/team/agent', host],
    ['https://git.example.com:999999/team/agent', host],
    ['https://git.example.com%2e/team/agent', host],
    ['https://git.example.com/team/agent?x=../..', query],
    ['https://git.example.com/team/agent#main', query],
    ['https://git.example.com/team/--upload-pack=id', dash],
    ['https://git.example.com/team/%2dx', dash],
    ['file://evil.org/srv/repos/agent', fileHost],
    ['file://localhost/srv/repos/agent', fileHost],
    ['ext::sh -c id', unprintable],
    ['ext::id', notUrl],
    ['ext::https://git.example.com/team/agent', notUrl],
    ['fd::17/agent', notUrl],
    ['git://git.example.com/team/agent', notUrl],
    ['ftp://git.example.com/team/agent', notUrl],
    ['git+ssh://git@git.example.com/team/agent', notUrl],
    ['git@git.example.com:team/agent', notUrl],
    ['--upload-pack=id', notUrl],
    ['-c', notUrl],
    ['/srv/repos/agent', notUrl],
    ['../agent', notUrl],
    ['C:\\repos', oddCharacter],
    ['', unprintable],
    ['https://git.example.com\\team/agent', oddCharacter],
    ['https://git.example.com/team/$(id)', oddCharacter],
    ['https://git.example.com/team/`id`', oddCharacter],
    ["https://git.example.com/team/'agent", oddCharacter],
    ['https://git.example.com/team/a|b', oddCharacter],
    ['https://git.example.com/team/agent\n--upload-pack=id', unprintable],
    ['https://git.example.com/team/agent\0', unprintable],
    [' https://git.example.com/team/agent', unprintable],
    ['https://git.example.com/team/аgent', unprintable],
    [
      `https://git.example.com/team/${'a'.repeat(3000)}`,
      'Invalid repo_url: it is longer than 2000 characters.',
    ],
  ])('%j', (url, message) => {
    expect(read(url)).toBe(message)
  })

  test('its password is not told back', () => {
    expect(read('https://user:hunter2@git.example.com/team/agent')).not.toContain('hunter2')
  })
})

test('nothing is allowed where nothing is listed', () => {
  expect(readRepository('https://git.example.com/team/agent', readAllowed([]))).toBe(elsewhere)
})

test('a scheme is allowed only where it is listed, the whole host where no path is', () => {
  const whole = readAllowed(['http://127.0.0.1:8080'])
  expect(readRepository('http://127.0.0.1:8080/x', whole)).toMatchObject({ url: 'http://127.0.0.1:8080/x' })
  expect(readRepository('https://127.0.0.1:8080/x', whole)).toBe(elsewhere)
  expect(readRepository('http://127.0.0.1/x', whole)).toBe(elsewhere)
})

test.each(['github.com/team', 'https://user:pass@git.example.com/', 'file://repos', 'https://', '*', ''])(
  'the prefix %j is a mistake of the embedder',
  (prefix) => {
    expect(() => readAllowed([prefix])).toThrow(TypeError)
  },
)

describe('a ref', () => {
  test.each([
    'main',
    'feature/x-1',
    'refs/heads/main',
    'refs/tags/v1.0.0',
    'v1.0',
    'a@b',
    'größe',
    'fix_#12',
    '0123456789abcdef0123456789abcdef01234567',
  ])('%s is taken', (ref) => {
    expect(refuseRef(ref)).toBeUndefined()
  })

  test.each([
    '',
    '-',
    '--upload-pack=id',
    '-c',
    '+main',
    'main:refs/heads/x',
    ':main',
    'main..other',
    'main...other',
    'main^',
    'main~1',
    'main^{commit}',
    'main@{1}',
    '@',
    'a b',
    'a\nb',
    'a\tb',
    'a\0b',
    'a\x7fb',
    'a\\b',
    'a*',
    'a?',
    'a[b',
    '/main',
    'main/',
    'a//b',
    '.hidden',
    'a/.b',
    'main.lock',
    'a.lock/b',
    'main.',
    '..',
    '../../etc/passwd',
    'a'.repeat(251),
  ])('%j is refused', (ref) => {
    expect(refuseRef(ref)).toMatch(/^Invalid repo_ref: /)
  })
})
