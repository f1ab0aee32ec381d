import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    langgraph: 'src/agents/langgraph.ts',
    messages: 'src/messages/index.ts',
    sqlite: 'src/storage/sqlite.ts',
    postgres: 'src/storage/postgres.ts',
    redis: 'src/storage/redis.ts',
    storage: 'src/storage/open-storage.ts',
    formats: 'src/formats/index.ts',
    audit: 'src/audit/index.ts',
    node: 'adapters/node.ts',
    express: 'adapters/express.ts',
    fastify: 'adapters/fastify.ts',
    hono: 'adapters/hono.ts',
    next: 'adapters/next.ts',
    cli: 'cli/main.ts',
  },
  format: ['esm', 'cjs'],
  target: 'node20',
  dts: true,
  splitting: true,
  sourcemap: true,
  clean: true,
  removeNodeProtocol: false,
})
