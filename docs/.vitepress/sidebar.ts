import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DefaultTheme } from 'vitepress'
import { groups, importPath } from './entries.mjs'

const DECISIONS = fileURLToPath(new URL('../decisions', import.meta.url))

const decisions = readdirSync(DECISIONS)
  .filter((name) => name.endsWith('.md'))
  .toSorted()
  .map((name) => ({
    text: titleOf(`${DECISIONS}/${name}`),
    link: `/docs/decisions/${name.replace('.md', '')}`,
  }))

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url))

const examples = readdirSync(EXAMPLES)
  .map((name) => ({ name, readme: `${EXAMPLES}/${name}/README.md` }))
  .filter(({ readme }) => existsSync(readme))
  .map(({ name, readme }) => ({ text: titleOf(readme), link: `/examples/${name}/` }))

/** The first heading of a page. */
function titleOf(path: string): string {
  return /^# (.+)$/m.exec(readFileSync(path, 'utf8'))![1]!.replaceAll('`', '')
}

export const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'Getting started',
    items: [
      { text: 'Quick start', link: '/docs/quick-start' },
      { text: 'Agents', link: '/docs/functions' },
      { text: 'React', link: '/docs/react' },
      { text: 'Authentication', link: '/docs/users' },
      { text: 'Persistence', link: '/docs/durable' },
    ],
  },
  {
    text: 'Overview',
    collapsed: true,
    items: [
      { text: 'All guides', link: '/docs/' },
      { text: 'Comparison', link: '/docs/comparison' },
      { text: 'All examples', link: '/examples/' },
      { text: 'Examples', collapsed: true, items: examples },
    ],
  },
  {
    text: 'Build',
    collapsed: true,
    items: [
      { text: 'LangGraph graphs', link: '/docs/graphs' },
      { text: 'Functions as agents', link: '/docs/function-agents' },
      { text: 'Artifacts and agent cards', link: '/docs/artifacts' },
      { text: 'Model SDKs', link: '/docs/models' },
      { text: 'React hooks', link: '/docs/react-hooks' },
      { text: 'Typed clients', link: '/docs/typed-clients' },
      { text: 'Titles by a model', link: '/docs/titles' },
      { text: 'Approvals', link: '/docs/approvals' },
      { text: 'History and forks', link: '/docs/history' },
      { text: 'Long-term memory', link: '/docs/memory' },
      { text: 'The engine', link: '/docs/engine' },
      { text: 'Testing', link: '/docs/testing' },
    ],
  },
  {
    text: 'Serve',
    collapsed: true,
    items: [
      { text: 'Frameworks', link: '/docs/mounts' },
      { text: 'Next.js and hot reload', link: '/docs/next' },
      { text: 'Bun, Deno, Workers', link: '/docs/runtimes' },
      { text: 'The command line', link: '/docs/cli' },
      { text: 'LangGraph’s Auth', link: '/docs/langgraph-auth' },
      { text: 'Sign-in services', link: '/docs/sign-in' },
      { text: 'Limits', link: '/docs/limits' },
      { text: 'CORS and CSRF', link: '/docs/cors' },
    ],
  },
  {
    text: 'Operate',
    collapsed: true,
    items: [
      { text: 'Several instances', link: '/docs/deploying' },
      { text: 'Docker and reverse proxies', link: '/docs/docker' },
      { text: 'Cron jobs', link: '/docs/crons' },
      { text: 'Assistants', link: '/docs/assistants' },
      { text: 'Observability', link: '/docs/operating' },
      { text: 'Devtools', link: '/docs/devtools' },
      { text: 'Upgrading', link: '/docs/upgrading' },
      { text: 'Control plane', link: '/docs/control-plane' },
    ],
  },
  {
    text: 'Connect',
    collapsed: true,
    items: [
      { text: 'Which protocol', link: '/docs/doors' },
      { text: 'Clients', link: '/docs/clients' },
      { text: 'LangGraph Studio', link: '/docs/studio' },
      { text: 'Coding agents', link: '/docs/coding-agents' },
      { text: 'LangGraph REST API', link: '/docs/platform' },
      { text: 'REST stream modes', link: '/docs/frames' },
      { text: 'useChat', link: '/docs/ai-sdk' },
      { text: 'OpenAI’s clients', link: '/docs/openai' },
      { text: 'MCP tools', link: '/docs/mcp' },
      { text: 'CopilotKit and AG-UI', link: '/docs/ag-ui' },
      { text: 'A2A', link: '/docs/a2a' },
      { text: 'Tracing', link: '/docs/tracing' },
      { text: 'Migrate from LangGraph Platform', link: '/docs/migrate-langgraph-platform' },
      { text: 'Migrate from elsewhere', link: '/docs/migrate' },
    ],
  },
  {
    text: 'Reference',
    collapsed: true,
    items: [
      { text: 'Protocol', link: '/docs/protocol' },
      { text: 'Errors', link: '/docs/errors' },
      { text: 'Guarantees and figures', link: '/docs/promises' },
      { text: 'Storage', link: '/docs/storage' },
      { text: 'Durability', link: '/docs/durability' },
      { text: 'Formats', link: '/docs/formats' },
      { text: 'Audits', link: '/docs/audits' },
      { text: 'Custom protocols', link: '/docs/faces' },
      { text: 'Extending', link: '/docs/extending' },
      { text: 'Benchmarks', link: '/docs/benchmarks' },
      { text: 'API reference', link: '/reference/' },
    ],
  },
  {
    text: 'Project',
    collapsed: true,
    items: [
      { text: 'Architecture', link: '/docs/architecture' },
      { text: 'Decisions', collapsed: true, items: decisions },
      { text: 'Roadmap', link: '/docs/roadmap' },
      { text: 'Changelog', link: '/CHANGELOG' },
      { text: 'Contributing', link: '/CONTRIBUTING' },
      { text: 'Security', link: '/SECURITY' },
    ],
  },
]

/** The entries of the package by import path. */
export const reference: DefaultTheme.SidebarItem[] = [
  { text: 'API reference', link: '/reference/' },
  ...groups.map(({ text, entries }) => ({
    text,
    items: entries.map(({ path }) => ({ text: importPath(path), link: `/reference/${importPath(path)}` })),
  })),
]
