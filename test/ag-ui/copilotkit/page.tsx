/** A page of CopilotKit, for one agent and one thread, which its address names. */
import {
  CopilotChat,
  CopilotKitProvider,
  useAgent,
  useFrontendTool,
  useInterrupt,
} from '@copilotkit/react-core/v2'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'

const parameters = new URLSearchParams(location.search)
const [runtimeUrl, agentId, threadId] = ['runtime', 'agent', 'thread'].map((name) => parameters.get(name)!)

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
          Yes
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
  <CopilotKitProvider runtimeUrl={runtimeUrl} showDevConsole={false}>
    <Page />
  </CopilotKitProvider>,
)
