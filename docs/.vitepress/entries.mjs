/**
 * The entries of the package as the API reference lists them. Each has its path below `agentwire`, its purpose and its guide.
 * @type {readonly { text: string, entries: readonly { path: string, purpose: string, guide: string }[] }[]}
 */
export const groups = [
  {
    text: 'Agents and servers',
    entries: [
      { path: '.', purpose: 'Servers, agents as functions, the engine and their types.', guide: 'functions' },
      { path: './langgraph', purpose: 'LangGraph graphs and deep agents as agents.', guide: 'graphs' },
      {
        path: './messages',
        purpose: 'One form for messages, and readers and writers for it.',
        guide: 'models',
      },
      { path: './models', purpose: 'Model providers by name, for agents as functions.', guide: 'models' },
      { path: './react', purpose: 'Hooks around `useStream` for chat pages.', guide: 'react' },
      { path: './testing', purpose: 'A scripted model, and readers of runs.', guide: 'testing' },
      { path: './schemas', purpose: 'Standard Schemas of requests, responses and events.', guide: 'clients' },
    ],
  },
  {
    text: 'Frameworks',
    entries: [
      { path: './node', purpose: 'Serves from `node:http`, or starts a server.', guide: 'mounts' },
      { path: './express', purpose: 'Mounts a server in Express.', guide: 'mounts' },
      { path: './fastify', purpose: 'Mounts a server in Fastify.', guide: 'mounts' },
      { path: './hono', purpose: 'Mounts a server in Hono.', guide: 'mounts' },
      { path: './next', purpose: 'Mounts a server in route handlers of Next.js.', guide: 'next' },
    ],
  },
  {
    text: 'Protocols',
    entries: [
      { path: './platform', purpose: 'LangGraph’s REST API.', guide: 'platform' },
      { path: './ai-sdk', purpose: '`useChat` of the AI SDK.', guide: 'ai-sdk' },
      { path: './ag-ui', purpose: 'AG-UI and CopilotKit.', guide: 'ag-ui' },
      { path: './openai', purpose: 'Chat completions and responses for OpenAI’s clients.', guide: 'openai' },
      { path: './mcp', purpose: 'Agents as MCP tools.', guide: 'mcp' },
      { path: './a2a', purpose: 'A2A, as a server and as a client.', guide: 'a2a' },
      { path: './a2a/signature', purpose: 'Signs and verifies A2A agent cards.', guide: 'a2a' },
    ],
  },
  {
    text: 'Storage',
    entries: [
      {
        path: './storage',
        purpose: 'Opens a database by its URL, and the contracts of stores.',
        guide: 'storage',
      },
      { path: './sqlite', purpose: 'Threads, runs and checkpoints in SQLite.', guide: 'durable' },
      { path: './postgres', purpose: 'Threads, runs and checkpoints in Postgres.', guide: 'durable' },
      { path: './redis', purpose: 'Threads, runs and checkpoints in Redis.', guide: 'durable' },
    ],
  },
  {
    text: 'Observability',
    entries: [
      { path: './devtools', purpose: 'The devtools as a handler of their own.', guide: 'devtools' },
      { path: './opentelemetry', purpose: 'Traces and metrics of the server.', guide: 'operating' },
      { path: './tracing', purpose: 'Traces of model calls.', guide: 'tracing' },
      { path: './tracing/sse', purpose: 'Traces of model calls from their responses.', guide: 'tracing' },
      { path: './tracing/langsmith', purpose: 'Sends traces to LangSmith.', guide: 'tracing' },
      { path: './tracing/opentelemetry', purpose: 'Sends traces to OpenTelemetry.', guide: 'tracing' },
      { path: './thread-metadata', purpose: 'Puts traces of a thread together.', guide: 'tracing' },
      { path: './formats', purpose: 'Requests and responses of model providers.', guide: 'formats' },
    ],
  },
  {
    text: 'Control plane',
    entries: [
      {
        path: './control-plane',
        purpose: 'The API that builds and runs deployments.',
        guide: 'control-plane',
      },
      {
        path: './control-plane/jwt',
        purpose: 'Authenticates callers by JSON Web Tokens.',
        guide: 'control-plane',
      },
      { path: './control-plane/oauth', purpose: 'OAuth tokens for agents.', guide: 'control-plane' },
      { path: './control-plane/process', purpose: 'Deploys to processes.', guide: 'control-plane' },
      { path: './control-plane/kubernetes', purpose: 'Deploys to Kubernetes.', guide: 'control-plane' },
      {
        path: './control-plane/command',
        purpose: 'Deploys with a command of yours.',
        guide: 'control-plane',
      },
    ],
  },
  {
    text: 'Extending',
    entries: [
      { path: './face', purpose: 'The parts of a protocol of your own.', guide: 'faces' },
      { path: './audit', purpose: 'Test suites for servers, adapters, stores and savers.', guide: 'audits' },
    ],
  },
]

/**
 * What an application imports: `./hono` is `agentwire/hono`.
 * @param {string} path
 */
export const importPath = (path) => `agentwire${path.slice(1)}`
