import Redis from 'ioredis'
import { vi } from 'vitest'
import { freePort } from '../../kit/listen.ts'
import { type RedisServer, startRedis } from '../../kit/redis-server.ts'

export interface RedisCluster {
  readonly ports: readonly number[]
  remove(): Promise<void>
}

const SLOTS = 16_384

/** Three masters, each with a third of the slots. A script that touches two slots is refused by them. */
export async function startCluster(): Promise<RedisCluster> {
  const nodes: { readonly server: RedisServer; readonly bus: number }[] = []
  for (let i = 0; i < 3; i++) {
    const bus = await freePort()
    const settings = {
      'cluster-enabled': 'yes',
      'cluster-port': String(bus),
      'cluster-node-timeout': '10000',
    }
    nodes.push({ server: await startRedis(settings), bus })
  }
  const ports = nodes.map(({ server }) => server.port)
  for (const [i, port] of ports.entries()) {
    const node = new Redis(port, '127.0.0.1')
    const first = Math.ceil((SLOTS * i) / 3)
    await node.call('CLUSTER', 'ADDSLOTSRANGE', first, Math.ceil((SLOTS * (i + 1)) / 3) - 1)
    for (const { server, bus } of nodes.slice(0, i)) {
      await node.call('CLUSTER', 'MEET', '127.0.0.1', server.port, bus)
    }
    node.disconnect()
  }
  for (const port of ports) {
    const node = new Redis(port, '127.0.0.1')
    await vi.waitFor(
      async () => {
        const info = String(await node.call('CLUSTER', 'INFO'))
        if (!info.includes('cluster_state:ok') || !info.includes('cluster_known_nodes:3'))
          throw new Error(info)
      },
      { timeout: 20_000, interval: 50 },
    )
    node.disconnect()
  }
  return {
    ports,
    async remove() {
      for (const { server } of nodes) await server.remove()
    },
  }
}
