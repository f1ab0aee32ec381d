import Redis from 'ioredis'
import type { BareClient } from './bare-client.ts'

const META = 'bare:log'
const EVENTS = 'bare:events'
const CHANNEL = 'bare:bell'

export async function openBareRedis(url: string): Promise<BareClient> {
  const client = new Redis(url)
  let listener: Redis | undefined
  let head: number | undefined
  return {
    async setup() {
      await client.ping()
    },
    async append(data, events, ring = false) {
      head = (head ?? Number(await client.hget(META, 'head'))) + events
      const commit = client
        .multi()
        .hset(META, 'head', head)
        .xadd(EVENTS, `${head}-0`, 'd', Buffer.from(data.buffer, data.byteOffset, data.length))
      await (ring ? commit.publish(CHANNEL, '') : commit).exec()
    },
    async read(after) {
      const entries = await client.xrangeBuffer(EVENTS, `(${after}-0`, '+')
      return entries.map(([id, [, data]]) => ({ seq: Number.parseInt(id.toString(), 10), data: data! }))
    },
    async watch(bell) {
      listener = client.duplicate()
      listener.on('message', bell)
      await listener.subscribe(CHANNEL)
    },
    async close() {
      client.disconnect()
      listener?.disconnect()
    },
  }
}
