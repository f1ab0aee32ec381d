import { devtoolsHref, HAS_DEVTOOLS } from '../../lib/devtools.ts'

/** The protocols by which other clients can call this page's agents, on the same port. */
const DOORS = [
  ['LangGraph SDK', '/threads'],
  ['A2A', '/a2a/agent'],
  ['AI SDK', '/api/chat'],
  ['AG-UI', '/ag-ui/agent'],
  ['MCP', '/mcp'],
  ['OpenAI', '/v1'],
] as const

const LINK =
  'inline-flex items-center px-2 text-ink underline decoration-line underline-offset-4 hover:decoration-current pointer-coarse:min-h-11'

export const AlsoServed = () => (
  <section
    aria-label="The same agents for other clients"
    className="flex flex-col items-center gap-2 text-faint text-xs"
  >
    <p>The same agents answer other clients on this port:</p>
    <ul className="grid grid-cols-3 gap-x-6 gap-y-1 text-left max-sm:grid-cols-2">
      {DOORS.map(([client, path]) => (
        <li key={path} className="whitespace-nowrap">
          {client} <code>{path}</code>
        </li>
      ))}
    </ul>
    <div className="flex flex-wrap justify-center gap-x-2">
      {HAS_DEVTOOLS && (
        <a href={devtoolsHref()} target="agentwire-devtools" className={LINK}>
          Watch them in the devtools
        </a>
      )}
      <a href="/openapi.json" target="_blank" className={LINK} rel="noopener">
        OpenAPI document
      </a>
    </div>
  </section>
)
