import Redis from 'ioredis'
import pg from 'pg'

let count = 0

/** Counts what this process sends from now on to Postgres and Redis: queries, and commands. */
function counted(prototype: object, name: string): void {
  const methods = prototype as Record<string, (...args: unknown[]) => unknown>
  const send = methods[name]!
  methods[name] = function (this: unknown, ...args) {
    count++
    return send.apply(this, args)
  }
}

counted(pg.Client.prototype, 'query')
counted(Redis.prototype, 'sendCommand')

export const roundTrips = (): number => count
