import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import {
  assertLease,
  claimLease,
  expireLease,
  isHeld,
  nextToken,
  releaseLease,
  renewLease,
} from '../../../src/storage/coordination/leases.ts'
import { FencedError } from '../../../src/storage/errors.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import type { Op, Store } from '../../../src/storage/store/store.ts'

afterEach(() => void vi.useRealTimers())

const TTL_MS = 1_000
const put: Op = { op: 'put', collection: 'c', id: 'd', value: 1 }

const steps = fc.array(
  fc.record({
    who: fc.constantFrom('a', 'b', 'c'),
    what: fc.constantFrom('claim', 'renew', 'assert', 'expire', 'release', 'write'),
    jumpMs: fc.oneof(
      fc.constantFrom(0, TTL_MS),
      fc.integer({ min: 0, max: 1_500 }),
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
    ),
  }),
  { maxLength: 40 },
)

test('only the last process that claimed a lease renews, releases and writes, whatever the clock does', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (todo) => {
      let now = 2_000_000
      const store = memoryStore({ now: () => now })
      const tokens = new Map<string, number>()
      let issued = 0
      let lease: { token: number; until: number } | undefined
      for (const { who, what, jumpMs } of todo) {
        now += jumpMs
        const state = await store.inspect('p')
        expect(isHeld(state)).toBe(lease !== undefined && lease.until > now)
        if (what === 'claim') {
          if (isHeld(state)) continue
          const token = nextToken(state)
          expect(token).toBeGreaterThan(issued)
          expect(token).toBeGreaterThanOrEqual(now)
          const claim = claimLease({ instance: who, leaseTtlMs: TTL_MS }, token)
          await store.commit('p', { guards: [{ guard: 'free' }], ops: [claim] })
          expect((await store.inspect('p')).lease?.owner).toBe(who)
          issued = token
          lease = { token, until: now + TTL_MS }
          tokens.set(who, token)
          continue
        }
        const token = tokens.get(who)
        if (token === undefined) continue
        const isLast: boolean = lease?.token === token
        const holds: boolean = isLast && lease!.until > now
        const calls: Record<typeof what, () => Promise<unknown>> = {
          renew: () => renewLease(store, 'p', token, TTL_MS),
          assert: () => assertLease({ store, leaseTtlMs: TTL_MS }, 'p', token),
          expire: () => expireLease(store, 'p', token),
          release: () => releaseLease(store, 'p', token, [put]),
          write: () => store.commit('p', { guards: [{ guard: 'fence', token }], ops: [put] }),
        }
        const before = (await store.get('p', 'c', 'd'))?.version
        const error = await calls[what]().then(
          () => undefined,
          (reason: unknown) => reason,
        )
        const isRefused = what === 'release' ? false : what === 'write' ? !holds : !isLast
        if (isRefused) expect(error).toBeInstanceOf(FencedError)
        else expect(error).toBeUndefined()
        const isWritten = (await store.get('p', 'c', 'd'))?.version !== before
        expect(isWritten).toBe(holds && (what === 'release' || what === 'write'))
        if (isRefused) continue
        if (what === 'renew' || what === 'assert') lease = { token, until: now + TTL_MS }
        else if (what === 'expire') lease = { token, until: now }
        else if (what === 'release' && holds) lease = undefined
      }
    }),
  )
})

test('a lease is asserted by an answer that came before it may have expired, by the clock of this process', async () => {
  vi.useFakeTimers()
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 2 * TTL_MS }),
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      async (takesMs, jumpMs) => {
        const store = {
          async commit() {
            await new Promise((resolve) => setTimeout(resolve, takesMs))
            vi.setSystemTime(Math.max(0, Date.now() + jumpMs))
          },
        } as unknown as Store
        const asserted = assertLease({ store, leaseTtlMs: TTL_MS }, 'p', 1).then(
          () => undefined,
          (reason: unknown) => reason,
        )
        await vi.runAllTimersAsync()
        if (takesMs < TTL_MS) expect(await asserted).toBeUndefined()
        else expect(await asserted).toBeInstanceOf(FencedError)
      },
    ),
  )
})
