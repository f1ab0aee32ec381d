import { equal, hold, within } from '../check.ts'
import { type Bench, type Check, check } from './bench.ts'
import { SECRET } from './probe.ts'
import { isAlive } from './request-checks.ts'

const HOST_HEADERS = { 'x-host': 'yes', 'set-cookie': 'host=1; Path=/', vary: 'X-Odd' }

export const responseChecks = {
  'adapter.head': check([], async (bench) => {
    const response = await bench.fetch(`/probe/endless/${bench.key}`, { method: 'HEAD' })
    equal('the status', response.status, 200)
    const type = response.headers.get('content-type') ?? ''
    hold('the type', type.startsWith('text/event-stream'), 'that of GET', type)
    equal('the body', await response.text(), '')
    const { pulls } = await bench.reach('the body cancelled', ({ cancelled }) => cancelled === 1)
    equal('what was pulled', pulls, 0)
    await isAlive(bench)
  }),
  'adapter.options': check(['options'], async (bench) => {
    const response = await bench.fetch('/probe/fields', { method: 'OPTIONS' })
    equal('the status', response.status, 204)
    const allowed = response.headers.get('allow')?.split(/, */) ?? []
    hold('the allowed methods', allowed.includes('GET') && allowed.includes('POST'), 'GET and POST', allowed)
  }),
  'adapter.cookies': check([], async (bench) => {
    const { headers } = await bench.fetch('/probe/cookies')
    equal('the cookies', headers.getSetCookie(), ['a=1; Path=/', 'b=2; Path=/'])
  }),
  'adapter.hop-by-hop': check([], async (bench) => {
    const response = await bench.fetch('/probe/hop-by-hop')
    equal('the answer', [response.status, await response.text()], [200, 'sent'])
  }),
  'adapter.empty': check([], async (bench) => {
    const response = await bench.fetch('/probe/no-content')
    equal('the answer', [response.status, await response.text()], [204, ''])
    await isAlive(bench)
  }),
  'adapter.length': check(['length'], async (bench) => {
    const response = await bench.fetch('/probe/fields')
    const text = await response.text()
    equal('content-length', response.headers.get('content-length'), String(text.length))
  }),
  'adapter.error.midway': check(['broken-streams'], async (bench) => {
    const response = await bench.fetch(`/probe/break/${bench.key}`)
    await broken(response)
    await isAlive(bench)
  }),
  'adapter.error.first': check(['broken-streams'], async (bench) => {
    const response = await bench.fetch(`/probe/break-first/${bench.key}`).catch(() => undefined)
    if (response?.status === 500) await withoutSecret(response)
    else if (response) await broken(response)
    await isAlive(bench)
  }),
  'adapter.error.thrown': check(['errors'], (bench) => failing(bench, '/probe/throw')),
  'adapter.error.thrown-at-once': check(['errors'], (bench) => failing(bench, '/probe/throw-at-once')),
  'adapter.error.bad-response': check(['errors'], (bench) => failing(bench, '/probe/bad-response')),
  'adapter.host-headers': {
    needs: ['host-headers'],
    start: { headers: HOST_HEADERS },
    async run(bench) {
      for (const path of ['/probe/cookies', '/probe/fields', '/probe/throw']) {
        const { headers } = await bench.fetch(path)
        equal(`a header of the host at ${path}`, headers.get('x-host'), 'yes')
        equal(`the cookie of the host at ${path}`, headers.getSetCookie()[0], 'host=1; Path=/')
        hold(`vary at ${path}`, headers.get('vary')?.includes('X-Odd') === true, 'X-Odd', headers.get('vary'))
      }
    },
  },
} satisfies Record<string, Check>

async function failing(bench: Bench, path: string): Promise<void> {
  const response = await bench.fetch(path)
  equal('the status', response.status, 500)
  await withoutSecret(response)
  await isAlive(bench)
}

async function withoutSecret(response: Response): Promise<void> {
  const text = await response.text()
  hold('the body', !text.includes(SECRET) && !/^\s{1,8}at /m.test(text), 'no detail of the error', text)
}

/** The body must fail, and must not look complete. */
async function broken(response: Response): Promise<void> {
  const decoder = new TextDecoder()
  const reader = response.body!.getReader()
  let text = ''
  for (;;) {
    const read = await within('the end of the stream', reader.read()).catch(() => undefined)
    hold('what came before the error', !text.includes(SECRET), 'no detail of the error', text)
    if (!read) return
    hold('the end of a stream that broke', !read.done, 'an error', text)
    text += decoder.decode(read.value, { stream: true })
  }
}
