import { CSRF, equal, hold, rfc } from '../../check.ts'
import type { AuditContext, Sent } from '../context.ts'
import { at } from '../events.ts'
import { type Checks, rules, rulesOf } from '../rule.ts'

const { should } = rules(rfc(3986, '2.4'))

const DEEP = 100_000
const LARGE = 16 * 1024 * 1024

const RULES = {
  'requests.ids': should('A thread id is percent-decoded once, and may have any characters'),
  'requests.deep': should(
    'A body that is nested too deeply is rejected, and the server keeps running',
    rfc(8259, '9'),
  ),
  'requests.large': should(
    'A body of 16 MiB is rejected, and the server keeps running',
    rfc(9110, '15.5.14'),
  ),
  'requests.other-origin': should(
    'A command sent as text by a page of another origin is rejected, and starts no run',
    CSRF,
  ),
  'requests.errors.quiet': should(
    'Responses to malformed requests have no stack trace',
    'https://cwe.mitre.org/data/definitions/209.html',
  ),
}

const checks: Checks<keyof typeof RULES> = {
  async 'requests.ids'({ thread }) {
    for (const odd of ['a/b', '%41', 'a%2Fb', '?#', '日本語', 'e\u0301']) {
      // A client may have run this audit before. This suffix makes each id unused.
      const { id: unique } = thread()
      const one = thread(undefined, `${odd} ${unique}`)
      const { state } = await one.finish()
      equal(`the thread of ${odd}`, at(state, 'checkpoint', 'thread_id'), one.id)
      let decoded = one.id
      try {
        decoded = decodeURIComponent(one.id)
      } catch {
        continue
      }
      if (decoded === one.id) continue
      const status = await thread(undefined, decoded).status('GET', '/state')
      equal(`the status of ${decoded}, which is another thread`, status, 404)
    }
  },
  async 'requests.deep'(audit) {
    const value = `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`
    await refuses(audit, `{"id":1,"method":"run.start","params":{"assistant_id":"none","input":${value}}}`)
  },
  async 'requests.large'(audit) {
    await refuses(audit, startOf(audit.assistantId, 'x'.repeat(LARGE)))
  },
  async 'requests.other-origin'(audit) {
    const headers = { 'content-type': 'text/plain', origin: 'https://elsewhere.example' }
    await refuses(audit, startOf(audit.assistantId, audit.input('Hello')), headers)
  },
  async 'requests.errors.quiet'({ thread }) {
    const broken = [
      ['/commands', '{"id":1,'],
      ['/stream', '{'],
      ['/state', '{'],
      ['/commands', startOf({})],
    ] as const
    const one = thread()
    for (const [path, sent] of broken) {
      const { status, body } = await one.request('POST', path, { body: sent })
      hold('the status', status < 500, 'no error of the server', status)
      const text = JSON.stringify(body) ?? ''
      hold('the answer', !/\bat .+:\d+:\d+/.test(text), 'no stack trace', text)
    }
  },
}

export const requestRules = /* @__PURE__ */ rulesOf(RULES, checks)

/** The body of a run.start command. */
const startOf = (assistant_id: unknown, input?: unknown): string =>
  JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id, input } })

/**
 * Checks that a body starts no run, that it is rejected or the connection closed, and that the server keeps
 * running.
 */
async function refuses(
  { thread, signal }: AuditContext,
  body: string,
  headers?: Sent['headers'],
): Promise<void> {
  const one = thread()
  const answer = await one.request('POST', '/commands', { body, headers }).catch((error) => {
    if (signal.aborted) throw error
    return undefined
  })
  // A server may allow all origins, if it says so.
  if (headers && answer?.headers.has('access-control-allow-origin')) return
  if (answer && answer.status !== 200)
    hold('the status', answer.status >= 400 && answer.status < 500, '4xx', answer.status)
  else if (answer) equal('the answer', at(answer.body, 'type'), 'error')
  equal('the status of the state', await one.status('GET', '/state'), 404)
}
