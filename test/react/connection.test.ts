import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createConnection } from '../../src/clients/react/client.ts'

const answers: (Response | Error)[] = []
const requests: { url: string; key: string | null }[] = []
const events = new EventTarget()

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('addEventListener', events.addEventListener.bind(events))
  vi.stubGlobal('removeEventListener', events.removeEventListener.bind(events))
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    requests.push({ url, key: new Headers(init.headers).get('idempotency-key') })
    const answer = answers.shift()
    if (answer instanceof Response) return answer
    throw answer
  })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  answers.length = 0
  requests.length = 0
})

const { fetch: patientFetch, reachable } = createConnection()
const away = () => new TypeError('Failed to fetch')

describe('a request while the server is away', () => {
  it('is tried again until there is an answer', async () => {
    answers.push(away(), new Response(null, { status: 503 }), away(), new Response('here'))
    const response = patientFetch('http://server/threads/t/stream')
    await vi.advanceTimersByTimeAsync(0)
    expect(reachable.get()).toBe(false)
    await vi.runAllTimersAsync()
    expect(reachable.get()).toBe(true)
    expect(await (await response).text()).toBe('here')
    expect(requests).toHaveLength(4)
  })

  it('is tried again at once when the browser is online again', async () => {
    answers.push(away(), new Response('here'))
    const response = patientFetch('http://server/threads')
    await vi.advanceTimersByTimeAsync(0)
    events.dispatchEvent(new Event('online'))
    expect(await (await response).text()).toBe('here')
  })

  it('keeps the key of a command, and gives the next command another one', async () => {
    answers.push(away(), new Response('1'), new Response('2'))
    const first = patientFetch('http://server/threads/t/commands', { method: 'POST' })
    await vi.runAllTimersAsync()
    await first
    await patientFetch('http://server/threads/t/commands', { method: 'POST' })
    const [lost, again, next] = requests.map(({ key }) => key)
    expect(lost).toMatch(/^[\w-]+$/)
    expect(again).toBe(lost)
    expect(next).not.toBe(lost)
  })

  it('ends when the caller aborts', async () => {
    answers.push(away(), away())
    const aborting = new AbortController()
    const response = patientFetch('http://server/threads', { signal: aborting.signal })
    const refused = expect(response).rejects.toThrow(/abort/i)
    await vi.advanceTimersByTimeAsync(10)
    aborting.abort()
    await refused
    expect(requests.length).toBeLessThanOrEqual(2)
  })
})

describe('an answer', () => {
  it('is passed on, whatever it says', async () => {
    answers.push(new Response('no', { status: 404 }))
    expect((await patientFetch('http://server/threads/t')).status).toBe(404)
    expect(requests).toEqual([{ url: 'http://server/threads/t', key: null }])
  })
})
