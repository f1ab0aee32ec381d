import { AGENTS } from '../../lib/agents.ts'
import { Button } from '../ui/button.tsx'
import { Ready } from '../ui/ready.tsx'

interface WelcomeProps {
  readonly agentId: string
  readonly onAgent: (agentId: string) => void
  readonly onPrompt: (text: string) => void
}

/** What an empty chat shows: who answers, and prompts to try. */
export function Welcome({ agentId, onAgent, onPrompt }: WelcomeProps) {
  const agent = AGENTS.find(({ id }) => id === agentId) ?? AGENTS[0]!
  return (
    <section className="mt-[15dvh] flex flex-col items-center gap-4 text-center">
      <h1 className="font-semibold text-2xl">What shall we try?</h1>
      <Ready>
        <label className="flex items-center gap-2 text-sm">
          Agent
          <select
            value={agent.id}
            onChange={({ target }) => onAgent(target.value)}
            className="h-9 rounded-lg border border-line bg-raised px-2"
          >
            {AGENTS.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <p className="max-w-prose text-faint text-sm">{agent.description}</p>
        <div className="flex flex-wrap justify-center gap-2">
          {agent.prompts.map((prompt) => (
            <Button key={prompt} className="font-normal" onClick={() => onPrompt(prompt)}>
              {prompt}
            </Button>
          ))}
        </div>
      </Ready>
    </section>
  )
}
