import { AGENTS } from '../../lib/agents.ts'
import { Button } from '../ui/button.tsx'
import { Mark } from '../ui/mark.tsx'
import { Ready } from '../ui/ready.tsx'
import { AgentChooser } from './agent-chooser.tsx'
import { AlsoServed } from './also-served.tsx'

interface WelcomeProps {
  readonly agentId: string
  readonly onAgent: (agentId: string) => void
  readonly onPrompt: (text: string) => void
}

/** An empty chat: the agents, and prompts to try. */
export function Welcome({ agentId, onAgent, onPrompt }: WelcomeProps) {
  const agent = AGENTS.find(({ id }) => id === agentId) ?? AGENTS[0]!
  return (
    <section className="mx-auto flex max-w-3xl flex-col items-center gap-5 px-4 pt-[10dvh] pb-6 text-center max-sm:gap-4 max-sm:pt-6">
      <Mark className="size-12 text-brand max-sm:size-10" />
      <h2 className="font-semibold text-2xl tracking-tight">What can I help with?</h2>
      <Ready>
        <AgentChooser agentId={agent.id} onAgent={onAgent} />
        <p className="max-w-prose text-balance text-faint text-sm">{agent.description}</p>
        <div className="flex flex-wrap justify-center gap-2">
          {agent.prompts.map((prompt) => (
            <Button key={prompt} size="lines" onClick={() => onPrompt(prompt)}>
              {prompt}
            </Button>
          ))}
        </div>
      </Ready>
      <AlsoServed />
    </section>
  )
}
