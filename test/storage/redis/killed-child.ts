import Redis from 'ioredis'
import { redisStorage } from '../../../src/storage/redis/redis.ts'
import { LEAVE } from '../../../src/storage/redis/store/directory.ts'
import { COMMIT } from '../../../src/storage/redis/store/scripts-commit.ts'
import type { Op } from '../../../src/storage/store/store.ts'

/** Puts documents and is killed around its next commit: before it, or after it and before the directory is told. */
const [url, moment] = process.argv.slice(2) as [string, 'before' | 'after']
const { store } = redisStorage({ url })
const put = (id: string, n: number): Op => ({
  op: 'put',
  collection: 'c',
  id,
  value: n,
  index: { n, list: 'of p' },
  ttlMs: 3_600_000,
})
await store.commit('p', { ops: [put('a', 1), put('b', 1), { op: 'append', token: 1, events: [] }] })
await store.commit('p', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 600_000 }] })
await new Promise((resolve) => setTimeout(resolve, 100))

const last = moment === 'before' ? COMMIT : LEAVE
const send = Redis.prototype.sendCommand
Redis.prototype.sendCommand = function (command, ...rest) {
  if (command.args.some((arg) => String(arg) === last.sha)) process.kill(process.pid, 'SIGKILL')
  return send.call(this, command, ...rest)
}
await store.commit('p', { ops: moment === 'before' ? [put('b', 2), put('x', 2)] : [{ op: 'clear' }] })
