import { type Call, publicBase, type SecuritySchemes } from '../../../core/http/index.ts'
import type { NamedAssistant } from '../../kit/assistants.ts'
import type { A2AContext } from '../options.ts'
import type { A2ACard, A2ACardOptions, A2AExtension } from './options.ts'

const MODES = ['text/plain', 'application/json']

/** LangGraph's server has this extension, too, with the other default. */
export const HISTORY_SCOPE = {
  extension: {
    uri: 'https://langchain.com/a2a/extensions/history-scope/v1',
    description: 'LangGraph-A2A-History-Scope chooses the history of a task: `task` (default) or `context`.',
  },
} as const

/** The protocol extensions of all agents of a server. */
export const extensionsOf = ({ extensions = [] }: A2ACardOptions): readonly A2AExtension[] => [
  HISTORY_SCOPE.extension,
  ...extensions,
]

/** The agent or assistant of a card. */
export interface CardOwner {
  readonly graphId: string
  /** An assistant that a client created from the graph. It is called by its UUID, and has its own name. */
  readonly assistant: NamedAssistant['assistant']
}

/** The card of an assistant of this server, with the address at which the caller reaches it. */
export function cardOf(
  { engine, card: settings }: A2AContext,
  call: Call,
  { graphId, assistant }: CardOwner,
): A2ACard {
  const agent = engine.agents.get(graphId)!
  const assistantId = assistant?.assistantId ?? graphId
  const name = assistant?.name || agent.name || graphId
  const description = assistant?.description || agent.description || `The assistant ${name}.`
  const { version = '1.0.0', provider, documentationUrl, iconUrl, securitySchemes } = settings
  return {
    name,
    description,
    version,
    url: `${settings.url ?? publicBase(call)}/a2a/${encodeURIComponent(assistantId)}`,
    provider,
    documentationUrl,
    iconUrl,
    capabilities: {
      streaming: true,
      pushNotifications: settings.pushNotifications,
      extendedAgentCard: settings.extended !== undefined,
      extensions: extensionsOf(settings),
    },
    securitySchemes,
    securityRequirements: settings.securityRequirements ?? anyOf(securitySchemes),
    defaultInputModes: agent.inputModes ?? MODES,
    defaultOutputModes: agent.outputModes ?? MODES,
    skills: agent.skills ?? [{ id: `${assistantId}-main`, name, description, tags: ['assistant'] }],
  }
}

const anyOf = (schemes: SecuritySchemes | undefined): A2ACard['securityRequirements'] =>
  schemes && Object.keys(schemes).map((name) => ({ [name]: [] }))
