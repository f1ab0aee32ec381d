/** A client that CI runs against the server, with the versions that docs/clients.md says. */
export interface Client {
  readonly name: string
  readonly versions: string
}

interface Shown {
  readonly label: string
  /** The name of the client in docs/clients.md. */
  readonly name: string
  readonly protocol: string
  readonly link: string
}

/** The clients of the landing page. */
const SHOWN: readonly Shown[] = [
  {
    label: 'useStream',
    name: '`@langchain/react`',
    protocol: 'Agent Streaming Protocol',
    link: '/docs/react',
  },
  {
    label: 'LangGraph SDK',
    name: '`@langchain/langgraph-sdk`',
    protocol: 'Agent Streaming Protocol, REST',
    link: '/docs/platform',
  },
  {
    label: 'agent-chat-ui',
    name: 'agent-chat-ui',
    protocol: 'Agent Streaming Protocol, REST',
    link: '/docs/clients',
  },
  { label: 'useChat', name: '`useChat` of `@ai-sdk/react`', protocol: 'AI SDK', link: '/docs/ai-sdk' },
  { label: 'CopilotKit', name: '`@copilotkit/react-core`', protocol: 'AG-UI', link: '/docs/ag-ui' },
  { label: 'AG-UI client', name: '`@ag-ui/client`', protocol: 'AG-UI', link: '/docs/ag-ui' },
  { label: 'A2A SDK', name: '`@a2a-js/sdk`', protocol: 'A2A 0.3 and 1.0', link: '/docs/a2a' },
  { label: 'MCP SDK 2', name: '`@modelcontextprotocol/client`', protocol: 'MCP', link: '/docs/mcp' },
  { label: 'MCP SDK 1', name: '`@modelcontextprotocol/sdk`', protocol: 'MCP', link: '/docs/mcp' },
  { label: 'OpenAI SDK', name: '`openai`', protocol: 'Chat completions, responses', link: '/docs/openai' },
  {
    label: 'OpenAI Agents SDK',
    name: '`@openai/agents`',
    protocol: 'Chat completions, responses',
    link: '/docs/openai',
  },
]

/** The rows of the first table of docs/clients.md. */
export const clientsOf = (page: string): Client[] =>
  rowsOf(page.split('\n## ')[0]!).map(([name = '', versions = '']) => ({ name, versions }))

/** The clients of the landing page, with their versions. */
export function shownClients(page: string) {
  const clients = clientsOf(page)
  return SHOWN.map(({ name, ...shown }) => {
    const versions = clients.find((client) => client.name === name)?.versions
    if (!versions) throw new Error(`docs/clients.md has no versions of ${name}.`)
    const named = /`([^`]+)`[^`]*$/.exec(name) ?? /`([^`]+)`/.exec(versions)
    return { ...shown, versions: versions.replace(/`[^`]+` /g, ''), name: named![1]! }
  })
}

/** The cells of the rows of all tables in a page. */
export const rowsOf = (page: string): string[][] =>
  [...page.matchAll(/^\|(.+)\|$/gm)]
    .map(([, row]) => row!.split('|').map((cell) => cell.trim()))
    .filter(([first]) => first !== '' && !/^:?-+:?$/.test(first!))
