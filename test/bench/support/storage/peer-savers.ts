import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { memoryCheckpointer } from '../../../../src/index.ts'
import { schemeOf } from '../../../../src/storage/storage-url.ts'
import { openBareRedisSaver } from './bare-redis-saver.ts'

interface SqlitePackage {
  readonly SqliteSaver: { fromConnString(path: string): unknown }
}

/** It is compiled when it is installed, so nobody who only wants to test has to install it: `npm install --no-save` it for its rows. */
const SQLITE_PACKAGE = '@langchain/langgraph-checkpoint-sqlite'

export const hasSqlitePeer = async (): Promise<boolean> =>
  import(SQLITE_PACKAGE).then(
    () => true,
    () => false,
  )

/**
 * LangGraph's own savers, each with tables or a file beside ours. That for Redis needs modules (RedisJSON, RediSearch) that the
 * server of the distributions has not: its place has a bare saver written here.
 */
const SAVERS: Readonly<Record<string, (url: string) => unknown>> = {
  memory: () => memoryCheckpointer(),
  async file(url) {
    const { SqliteSaver } = (await import(SQLITE_PACKAGE)) as SqlitePackage
    return SqliteSaver.fromConnString(`${url.replace(/^file:/, '')}.peer`)
  },
  async postgres(url) {
    const saver = PostgresSaver.fromConnString(url)
    await saver.setup()
    return saver
  },
  redis: openBareRedisSaver,
}

export const openPeerSaver = async (url: string): Promise<unknown> => SAVERS[schemeOf(url)]!(url)
