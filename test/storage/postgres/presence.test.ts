import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { postgresStorage } from '../../../src/storage/postgres/postgres.ts'
import { createPresence } from '../../../src/storage/postgres/store/notifier.ts'
import type { Op } from '../../../src/storage/store/store.ts'
import { hasPostgres, query, sharedPostgres } from '../../kit/postgres-server.ts'

const LASTS_MS = 30_000
const append: Op = { op: 'append', token: 1, events: [{ topic: 't', data: new Uint8Array(5) }] }
const later = { timeout: 30_000, interval: 20 }

describe('who listens to the channel of notifications', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** One that has listened for long, and heard itself. */
  function alone(name: string) {
    const presence = createPresence(name, LASTS_MS)
    presence.opened()
    presence.heard(name, [presence.asks])
    vi.advanceTimersByTime(2_000)
    return presence
  }

  test('is nobody where nobody has answered in time', () => {
    const a = createPresence('a', LASTS_MS)
    expect(a.isAlone()).toBe(false)
    a.opened()
    a.heard('a', [a.asks])
    expect(a.isAlone()).toBe(false)
    vi.advanceTimersByTime(2_000)
    expect(a.isAlone()).toBe(true)
    a.opened()
    expect(a.isAlone()).toBe(false)
  })

  test('is not known where one cannot hear itself, as behind a pooler', () => {
    const a = createPresence('a', LASTS_MS)
    a.opened()
    vi.advanceTimersByTime(2_000)
    expect(a.isAlone()).toBe(false)
    a.heard('a', [a.asks])
    expect(a.isAlone()).toBe(false)
    vi.advanceTimersByTime(2_000)
    expect(a.isAlone()).toBe(true)
    vi.advanceTimersByTime(LASTS_MS)
    expect(a.isAlone()).toBe(false)
  })

  test('is one that asks, as long as it says, and it is told what it may have missed', () => {
    const a = alone('a')
    expect(a.heard('b', ['?5000'])).toEqual({ answer: `!${LASTS_MS}`, missed: false })
    expect(a.isAlone()).toBe(false)
    expect(a.heard('b', ['?5000'])).toEqual({ missed: false })
    expect(a.heard('c', ['?5000'])).toEqual({ answer: `.${LASTS_MS}`, missed: false })
    a.heard('a', [a.asks])
    vi.advanceTimersByTime(5_000)
    expect(a.isAlone()).toBe(true)
  })

  test('is one that answers; nobody answers for ever', () => {
    const [a, b] = [alone('a'), createPresence('b', LASTS_MS)]
    b.opened()
    const { answer } = a.heard('b', [b.asks])
    expect(b.heard('a', [answer!])).toEqual({ missed: true })
    vi.advanceTimersByTime(2_000)
    expect([a.isAlone(), b.isAlone()]).toEqual([false, false])
  })

  test('is told what it may have missed where its answer was late', () => {
    const a = alone('a')
    expect(a.heard('b', ['.5000'])).toEqual({ answer: `!${LASTS_MS}`, missed: false })
    expect(createPresence('b', LASTS_MS).heard('a', ['!5000']).missed).toBe(true)
  })

  test('is one of an earlier version, which only notifies', () => {
    const a = alone('a')
    a.heard('b', ['l12345678901'])
    expect(a.isAlone()).toBe(false)
  })
})

describe.runIf(hasPostgres())('postgresStorage', async () => {
  const server = await sharedPostgres()

  test('sends no notification while nobody else listens, and each once somebody does', async () => {
    // A database of its own, because all of one share the channel.
    const name = `presence_${process.pid}`
    await query(server, `CREATE DATABASE ${name}`)
    const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
    const witness = new pg.Client({ connectionString: url })
    await witness.connect()
    const heard: string[] = []
    witness.on('notification', ({ payload = '' }) => heard.push(payload.split(' ')[1]!))
    await witness.query('LISTEN agentwire_changes')
    const [a, b] = [postgresStorage({ url }), postgresStorage({ url })]
    try {
      const changes = () => heard.filter((item) => /^[*ld]/.test(item)).length
      await a.store.commit('p', { ops: [append] })
      await vi.waitFor(() => expect(changes()).toBe(1), later)
      await vi.waitFor(async () => {
        const before = changes()
        await a.store.commit('p', { ops: [append] })
        await new Promise((resolve) => setTimeout(resolve, 100))
        expect(changes()).toBe(before)
      }, later)
      let notified = 0
      b.store.watch('p', () => {
        notified += 1
      })
      // Once for what was missed before it listened, and once for what may have been since.
      await vi.waitFor(() => expect(notified).toBe(2), later)
      await a.store.commit('p', { ops: [append] })
      await vi.waitFor(() => expect(notified).toBe(3), later)
    } finally {
      await Promise.all([a.close(), b.close(), witness.end()])
      await query(server, `DROP DATABASE ${name} WITH (FORCE)`)
    }
  })
})
