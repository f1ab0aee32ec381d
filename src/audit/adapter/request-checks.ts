import { NO_ROUTE } from '../../core/http/handler.ts'
import { equal, hold } from '../check.ts'
import { type Bench, type Check, check, head } from './bench.ts'
import { readEcho } from './body-checks.ts'

const FORWARDED = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.example:8443' }

/** A request that a page can send without a CORS preflight. */
const TEXT = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' }

export const requestChecks = {
  'adapter.methods': check([], async (bench) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      equal('the method', (await bench.echo('/probe/echo', { method })).method, method)
    }
  }),
  'adapter.headers.repeated': check(['connect'], async (bench) => {
    const http = bench.connect()
    const lines = 'X-Odd: 1\r\nx-odd: 2\r\ncookie: a=1\r\nCookie: b=2\r\n\r\n'
    await http.send(head(bench, 'GET', '/probe/echo').slice(0, -2) + lines)
    const headers = new Map((await readEcho(http)).headers)
    equal('a repeated header', headers.get('x-odd'), '1, 2')
    equal('the cookies', headers.get('cookie'), 'a=1; b=2')
  }),
  'adapter.headers.names': check([], async (bench) => {
    const { headers } = await bench.echo('/probe/echo', { headers: { 'x-odd': 'é', cookie: 'a=1; b=2' } })
    const pseudo = headers.filter(([name]) => !/^[a-z0-9-]+$/.test(name))
    equal('names that are no names', pseudo, [])
    equal('a value of Latin-1', new Map(headers).get('x-odd'), 'é')
    equal('the cookies', new Map(headers).get('cookie'), 'a=1; b=2')
  }),
  'adapter.url.target': check([], async (bench) => {
    const target = '/probe/echo/a%2Fb%20c?x=%2F&y=%F0%9F%99%82&z='
    const { pathname, search } = new URL((await bench.echo(target)).url)
    equal('path and query', pathname + search, target)
  }),
  'adapter.url.host': check(['connect'], async (bench) => {
    const hosts = [
      'evil.example/x?',
      'evil.example#',
      'a@evil.example',
      'evil.example\\x',
      'evil.example:99999',
    ]
    for (const host of hosts) {
      const http = bench.connect()
      await http.send(head(bench, 'GET', '/probe/echo', { host, connection: 'close' }))
      const answer = await http.head()
      const body = await http.body(answer)
      if (answer.status === 400) continue
      const { hostname, pathname } = new URL(JSON.parse(body).url)
      hold(`Host: ${host}`, hostname !== 'evil.example' && pathname === '/probe/echo', '400', body)
    }
  }),
  'adapter.url.absolute': check(['connect', 'own-url'], async (bench) => {
    const http = await bench.send('GET', `http://${bench.host}/probe/echo?x`)
    equal('the URL', (await readEcho(http)).url, `${bench.origin}/probe/echo?x`)
  }),
  'adapter.url.asterisk': check(['connect', 'own-url'], async (bench) => {
    const http = await bench.send('OPTIONS', '*', { connection: 'close' })
    const { status } = await http.head()
    hold('the status of OPTIONS *', status < 500, 'less than 500', status)
    await isAlive(bench)
  }),
  'adapter.url.double-slash': check(['connect'], async (bench) => {
    const http = await bench.send('GET', '//evil.example/probe/echo', { connection: 'close' })
    const answer = await http.head()
    const body = await http.body(answer)
    // Some hosts redirect to the path with one slash. The host must not change.
    const target = answer.status === 200 ? JSON.parse(body).url : (answer.headers.get('location') ?? '/')
    const { hostname } = new URL(target, bench.origin)
    hold('the host', hostname !== 'evil.example', 'not one from the path', target)
  }),
  'adapter.proxy.ignored': check(['own-url'], async (bench) => {
    const { url } = await bench.echo('/probe/echo', { headers: FORWARDED })
    equal('the origin', new URL(url).origin, bench.origin)
  }),
  'adapter.proxy.trusted': {
    needs: ['trust-proxy'],
    start: { trustProxy: true },
    async run(bench) {
      const { url } = await bench.echo('/probe/echo', { headers: FORWARDED })
      equal('the origin', new URL(url).origin, 'https://public.example:8443')
      const plain = await bench.echo()
      equal('the origin without a proxy', new URL(plain.url).origin, bench.origin)
    },
  },
  'adapter.origin': check([], async (bench) => {
    const from = async (origin: string) =>
      (await bench.fetch('/probe/fields', { ...TEXT, headers: { ...TEXT.headers, origin } })).status
    equal('the status of a page of another origin', await from('https://elsewhere.example'), 403)
    equal("the status of the server's own page", await from(bench.origin), 200)
    const site = { ...TEXT.headers, 'sec-fetch-site': 'cross-site' }
    const told = await bench.fetch('/probe/fields', { ...TEXT, headers: site })
    equal('the status of a page that its browser tells the site of', told.status, 403)
  }),
  'adapter.origin.proxy': {
    needs: ['trust-proxy'],
    start: { trustProxy: true },
    async run(bench) {
      const headers = { ...TEXT.headers, ...FORWARDED, origin: 'https://public.example:8443' }
      equal('the status', (await bench.fetch('/probe/fields', { ...TEXT, headers })).status, 200)
    },
  },
  'adapter.mount.base-path': {
    needs: ['mount'],
    start: { mount: '/deep/agent' },
    async run(bench) {
      const { basePath, url } = await bench.echo('/probe/echo?x=')
      equal('the base path', basePath, '/deep/agent')
      equal('path and query', new URL(url).pathname + new URL(url).search, '/deep/agent/probe/echo?x=')
    },
  },
  'adapter.mount.bare': {
    needs: ['mount'],
    start: { mount: '/agent' },
    async run(bench) {
      for (const path of ['', '/', '/?x']) {
        const response = await bench.fetch(path)
        equal(`the answer at /agent${path}`, await response.json(), { at: 'the mount' })
      }
    },
  },
  'adapter.mount.boundary': {
    needs: ['mount'],
    start: { mount: '/agent' },
    async run(bench) {
      const response = await bench.fetch('more/probe/echo')
      hold('the answer at /agentmore', !(await isProbe(response)), "the host's own", response.status)
      equal('the status', response.status, 404)
    },
  },
  'adapter.not-found.mounted': {
    needs: ['mount', 'fall-through'],
    start: { mount: '/agent' },
    run: fallsThrough,
  },
  'adapter.not-found.root': check(['fall-through'], fallsThrough),
} satisfies Record<string, Check>

async function fallsThrough(bench: Bench): Promise<void> {
  equal("the host's own route", await (await bench.fetch('/host')).text(), 'host')
  const response = await bench.fetch('/nothing', { method: 'POST', body: 'x' })
  equal('the status', response.status, 404)
  hold('the answer', !(await isProbe(response)), "the host's own 404", 'that of the handler')
}

async function isProbe(response: Response): Promise<boolean> {
  return (await response.text()).includes(NO_ROUTE)
}

export async function isAlive(bench: Bench): Promise<void> {
  equal('the next answer', await (await bench.fetch('/probe/fields')).json(), { ok: true })
}
