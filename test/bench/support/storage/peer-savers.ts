import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { memoryCheckpointer } from '../../../../src/index.ts'
import { schemeOf } from '../../../../src/storage/storage-url.ts'
import { openBareRedisSaver } from './bare-redis-saver.ts'

/**
 * LangGraph's own savers, each with tables or a file beside ours. That for Redis needs modules (RedisJSON, RediSearch) that the
 * server of the distributions has not: its place has a bare saver written here.
 */
const SAVERS: Readonly<Record<string, (url: string) => unknown>> = {
  memory: () => memoryCheckpointer(),
  file: (url) => SqliteSaver.fromConnString(`${url.replace(/^file:/, '')}.peer`),
  async postgres(url) {
    const saver = PostgresSaver.fromConnString(url)
    await saver.setup()
    return saver
  },
  redis: openBareRedisSaver,
}

export const openPeerSaver = async (url: string): Promise<unknown> => SAVERS[schemeOf(url)]!(url)
