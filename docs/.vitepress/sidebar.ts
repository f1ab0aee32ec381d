import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DefaultTheme } from 'vitepress'

const decisions = readdirSync(fileURLToPath(new URL('../decisions', import.meta.url)))
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.replace('.md', ''))
  .toSorted()
  .map((name) => ({ text: titleOf(name), link: `/docs/decisions/${name}` }))

/** `0007-context` is `7 Context`. */
function titleOf(name: string): string {
  const [, number, words] = /^0*(\d+)-(.*)$/.exec(name)!
  return `${number} ${words!.charAt(0).toUpperCase()}${words!.slice(1).replaceAll('-', ' ')}`
}

export const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: 'Start',
    items: [
      { text: 'agentwire', link: '/' },
      { text: 'All guides', link: '/docs/' },
      { text: 'Examples', link: '/examples/' },
      { text: 'The chat', link: '/examples/chat/README' },
    ],
  },
  {
    text: 'Build',
    items: [
      { text: 'Bring a LangGraph graph', link: '/docs/graphs' },
      { text: 'Agents from functions', link: '/docs/functions' },
      { text: 'Bring any model SDK', link: '/docs/models' },
      { text: 'Stream to React', link: '/docs/react' },
      { text: 'Long-term memory', link: '/docs/memory' },
      { text: 'Approvals', link: '/docs/approvals' },
      { text: 'History and forks', link: '/docs/history' },
      { text: 'Runs of the server', link: '/docs/engine' },
      { text: 'Test your agent', link: '/docs/testing' },
    ],
  },
  {
    text: 'Serve',
    items: [
      { text: 'Mount it', link: '/docs/mounts' },
      { text: 'Next and hot reload', link: '/docs/next' },
      { text: 'Bun, Deno, Workers', link: '/docs/runtimes' },
      { text: 'A langgraph.json', link: '/docs/cli' },
      { text: 'Users', link: '/docs/users' },
      { text: 'Limits', link: '/docs/limits' },
      { text: 'CORS and proxies', link: '/docs/cors' },
    ],
  },
  {
    text: 'Operate',
    items: [
      { text: 'Keep threads', link: '/docs/durable' },
      { text: 'Many instances', link: '/docs/deploying' },
      { text: 'LangGraph’s REST', link: '/docs/platform' },
      { text: 'Crons', link: '/docs/crons' },
      { text: 'The event stream of a run', link: '/docs/frames' },
      { text: 'Assistants', link: '/docs/assistants' },
      { text: 'Watch a server', link: '/docs/operating' },
      { text: 'Devtools', link: '/docs/devtools' },
      { text: 'Upgrade', link: '/docs/upgrading' },
      { text: 'Deployments', link: '/docs/control-plane' },
    ],
  },
  {
    text: 'Connect',
    items: [
      { text: 'Which clients work', link: '/docs/clients' },
      { text: 'A2A', link: '/docs/a2a' },
      { text: 'Trace models', link: '/docs/tracing' },
      { text: 'From LangGraph Platform', link: '/docs/migrate-langgraph-platform' },
      { text: 'Migrate', link: '/docs/migrate' },
    ],
  },
  {
    text: 'Reference',
    items: [
      { text: 'Protocol', link: '/docs/protocol' },
      { text: 'Promises and figures', link: '/docs/promises' },
      { text: 'Storage', link: '/docs/storage' },
      { text: 'Durability', link: '/docs/durability' },
      { text: 'Formats', link: '/docs/formats' },
      { text: 'Audit your server', link: '/docs/audits' },
      { text: 'A protocol of your own', link: '/docs/faces' },
      { text: 'Store, format, adapter', link: '/docs/extending' },
      { text: 'Benchmarks', link: '/docs/benchmarks' },
      { text: 'API reference', link: '/reference/index.html', target: '_self' },
    ],
  },
  {
    text: 'Project',
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
