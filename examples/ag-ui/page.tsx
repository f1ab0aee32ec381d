/** A CopilotKit page with a client-side tool, an approval and shared state. It needs no CopilotRuntime. */
import {
  CopilotChat,
  CopilotKitProvider,
  useAgent,
  useFrontendTool,
  useInterrupt,
} from '@copilotkit/react-core/v2'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'

const query = new URLSearchParams(location.search)
const runtimeUrl = query.get('runtime') ?? 'http://127.0.0.1:3000/ag-ui'
const agentId = query.get('agent') ?? 'agent'
const threadId = query.get('thread') ?? 'thread-1'

interface Question {
  readonly interrupt: { readonly message?: string } | null
  readonly resolve: (payload: unknown) => void
}

function Page() {
  useFrontendTool({
    name: 'paint',
    description: 'Paints the page.',
    parameters: z.object({ color: z.string() }),
    async handler({ color }: { color: string }) {
      document.body.style.background = color
      return `painted ${color}`
    },
  })
  useInterrupt({
    agentId,
    render: ({ interrupt, resolve }: Question) => (
      <div id="question">
        {interrupt?.message}
        <button type="button" id="approve" onClick={() => resolve({ approved: true })}>
          Approve
        </button>
      </div>
    ),
  })
  const { agent } = useAgent({ agentId })
  return (
    <>
      <pre id="state">{JSON.stringify(agent.state)}</pre>
      <pre id="running">{String(agent.isRunning)}</pre>
      <button type="button" id="write" onClick={() => agent.setState({ ...agent.state, topic: 'trains' })}>
        Trains
      </button>
      <CopilotChat agentId={agentId} threadId={threadId} />
    </>
  )
}

const root = document.createElement('div')
document.body.append(root)
createRoot(root).render(
  <CopilotKitProvider runtimeUrl={runtimeUrl}>
    <Page />
  </CopilotKitProvider>,
)
