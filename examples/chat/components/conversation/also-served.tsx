/** What other clients call the agents of this page with, on the same port. */
const DOORS = [
  ['LangGraph SDK', '/threads'],
  ['A2A', '/a2a/agent'],
  ['AI SDK', '/api/chat'],
  ['AG-UI', '/ag-ui/agent'],
  ['MCP', '/mcp'],
  ['OpenAI', '/v1'],
] as const

export const AlsoServed = () => (
  <p className="text-balance text-faint text-xs">
    The same agents, on this port:{' '}
    {DOORS.map(([client, path], index) => (
      <span key={path} className="whitespace-nowrap">
        {index > 0 && ' · '}
        {client} <code>{path}</code>
      </span>
    ))}
  </p>
)
