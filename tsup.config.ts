import type { Options } from 'tsup'

/** The files of the package by their names, and where their sources are. */
export const { entry } = {
  entry: {
    index: 'src/index.ts',
    langgraph: 'src/agents/langgraph/langgraph.ts',
    messages: 'src/messages/index.ts',
    mcp: 'src/faces/mcp/index.ts',
    sqlite: 'src/storage/sqlite/sqlite.ts',
    postgres: 'src/storage/postgres/postgres.ts',
    redis: 'src/storage/redis/redis.ts',
    storage: 'src/storage/open.ts',
    formats: 'src/models/formats/index.ts',
    models: 'src/models/formats/models.ts',
    tracing: 'src/models/tracing/index.ts',
    'tracing-sse': 'src/models/tracing/observe/observe-response.ts',
    'tracing-langsmith': 'src/models/tracing/sinks/langsmith.ts',
    'tracing-opentelemetry': 'src/models/tracing/sinks/opentelemetry.ts',
    'a2a-signature': 'src/faces/a2a/card/signature.ts',
    opentelemetry: 'src/ops/opentelemetry/opentelemetry.ts',
    a2a: 'src/faces/a2a/index.ts',
    'ag-ui': 'src/faces/ag-ui/index.ts',
    'ai-sdk': 'src/faces/ai-sdk/index.ts',
    openai: 'src/faces/openai/index.ts',
    platform: 'src/faces/rest/index.ts',
    'control-plane': 'src/control-plane/index.ts',
    'control-plane-jwt': 'src/control-plane/api/authentication/jwt.ts',
    'control-plane-oauth': 'src/control-plane/auth/oauth.ts',
    'control-plane-process': 'src/control-plane/deployers/process/process.ts',
    audit: 'src/audit/index.ts',
    devtools: 'src/ops/devtools/index.ts',
    face: 'src/faces/kit/index.ts',
    schemas: 'src/faces/schemas/schemas.ts',
    testing: 'src/agents/testing/index.ts',
    react: 'src/clients/react/index.ts',
    'control-plane-kubernetes': 'src/control-plane/deployers/kubernetes/kubernetes.ts',
    'control-plane-command': 'src/control-plane/deployers/command/command.ts',
    node: 'adapters/node.ts',
    express: 'adapters/express.ts',
    fastify: 'adapters/fastify.ts',
    hono: 'adapters/hono.ts',
    next: 'adapters/next.ts',
    'thread-metadata': 'src/models/tracing/thread/middleware.ts',
    cli: 'src/cli/main.ts',
  },
} as const satisfies Options

const { cli: _, ...library } = entry

/** tsconfig.build.json says where the declarations of a source file are. Deriving them here, from all entries at once, takes gigabytes. */
const declarations = Object.entries(library).map(([name, source]) => [
  name,
  `.tmp/types/${source.replace(/\.ts$/, '.d.ts')}`,
])

/** The declarations: rolldown.config.ts builds the code, and .ci/declarations.mjs gives those of modules. */
export default {
  entry: library,
  format: ['cjs'],
  dts: { only: true, entry: Object.fromEntries(declarations) },
} satisfies Options
