import { equal, hold } from '../../check.ts'
import type { AuditContext, Sent } from '../context.ts'
import { at } from '../events.ts'
import { rules } from '../rule.ts'

const { should } = rules({ source: 'https://www.rfc-editor.org/rfc/rfc3986#section-2.4' })

const DEEP = 100_000
const LARGE = 16 * 1024 * 1024

export const requestRules = [
  should(
    'requests.ids',
    'An id of a thread is percent-decoded once, and may have any characters',
    async ({ thread }) => {
      for (const odd of ['a/b', '%41', 'a%2Fb', '?#', '日本語', 'e\u0301']) {
        // A client may have run this before: each id is new by what follows.
        const { id: unique } = thread()
        const one = thread(undefined, `${odd} ${unique}`)
        await one.run()
        equal(`the thread of ${odd}`, at(await one.idle(), 'checkpoint', 'thread_id'), one.id)
        let decoded = one.id
        try {
          decoded = decodeURIComponent(one.id)
        } catch {
          continue
        }
        if (decoded === one.id) continue
        const other = await thread(undefined, decoded).request('GET', '/state')
        equal(`the status of ${decoded}, which is another thread`, other.status, 404)
      }
    },
  ),
  should(
    'requests.deep',
    'A body that is nested too deeply is refused, and the server lives',
    async (audit) => {
      const value = `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`
      await refuses(audit, `{"id":1,"method":"run.start","params":{"assistant_id":"none","input":${value}}}`)
    },
    { source: 'https://www.rfc-editor.org/rfc/rfc8259#section-9' },
  ),
  should(
    'requests.large',
    'A body of 16 MiB is refused, and the server lives',
    async (audit) => {
      const params = { assistant_id: audit.assistantId, input: 'x'.repeat(LARGE) }
      await refuses(audit, JSON.stringify({ id: 1, method: 'run.start', params }))
    },
    { source: 'https://www.rfc-editor.org/rfc/rfc9110#section-15.5.14' },
  ),
  should(
    'requests.other-origin',
    'A command that a page of another origin sends as text is refused, and starts no run',
    async (audit) => {
      const params = { assistant_id: audit.assistantId, input: audit.input }
      const headers = { 'content-type': 'text/plain', origin: 'https://elsewhere.example' }
      await refuses(audit, JSON.stringify({ id: 1, method: 'run.start', params }), headers)
    },
    {
      source:
        'https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html',
    },
  ),
  should(
    'requests.errors.quiet',
    'What a server answers to broken requests has no stack trace',
    async ({ thread }) => {
      const one = thread()
      const broken = [
        await one.request('POST', '/commands', { body: '{"id":1,' }),
        await one.request('POST', '/stream', { body: '{' }),
        await one.request('POST', '/state', { body: '{' }),
        await one.request('POST', '/commands', {
          body: { id: 1, method: 'run.start', params: { assistant_id: {} } },
        }),
      ]
      for (const { status, body } of broken) {
        hold('the status', status < 500, 'no error of the server', status)
        const text = JSON.stringify(body) ?? ''
        hold('the answer', !/\bat .+:\d+:\d+/.test(text), 'no stack trace', text)
      }
    },
    { source: 'https://cwe.mitre.org/data/definitions/209.html' },
  ),
]

/** Checks that a body starts no run, by a refusal or by a connection that is cut, and that the next request is answered. */
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
  // A server may allow every page, and then says so.
  if (headers && answer?.headers.has('access-control-allow-origin')) return
  if (answer && answer.status !== 200)
    hold('the status', answer.status >= 400 && answer.status < 500, '4xx', answer.status)
  else if (answer) equal('the answer', at(answer.body, 'type'), 'error')
  equal('the status of the state', (await one.request('GET', '/state')).status, 404)
}
