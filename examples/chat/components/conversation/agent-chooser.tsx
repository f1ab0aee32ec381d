import { AGENTS } from '../../lib/agents.ts'
import { agentIcon } from './agent-icon.ts'

interface AgentChooserProps {
  readonly agentId: string
  readonly onAgent: (agentId: string) => void
}

/** A card for each agent. One is selected. */
export function AgentChooser({ agentId, onAgent }: AgentChooserProps) {
  return (
    <fieldset className="w-full">
      <legend className="sr-only">Agent</legend>
      <div className="grid grid-cols-3 gap-2">
        {AGENTS.map(({ id, title, brief }) => {
          const Icon = agentIcon(id)
          return (
            <label
              key={id}
              className="relative flex min-w-0 items-center gap-3 rounded-xl border border-line bg-raised p-3 text-left max-sm:flex-col max-sm:gap-1.5 max-sm:px-1 max-sm:text-center transition-colors hover:bg-hover has-checked:border-brand has-checked:ring-1 has-checked:ring-brand"
            >
              <input
                type="radio"
                name="agent"
                value={id}
                checked={id === agentId}
                aria-label={title}
                onChange={() => onAgent(id)}
                className="absolute inset-0 cursor-pointer appearance-none rounded-xl disabled:cursor-default"
              />
              <Icon
                aria-hidden
                className={`size-5 shrink-0 ${id === agentId ? 'text-brand' : 'text-faint'}`}
              />
              <span className="min-w-0 max-w-full">
                <span className="block font-medium text-sm">{title}</span>
                <span className="block text-faint text-xs max-sm:hidden">{brief}</span>
              </span>
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}
