import { type Call, publicBase, type SecuritySchemes } from '../../http/index.ts'
import type { A2AContext } from '../context.ts'
import type { A2ACard } from './options.ts'

const MODES = ['text/plain', 'application/json']

/** LangGraph's server has it, with the other default. */
export const HISTORY_SCOPE = {
  header: 'langgraph-a2a-history-scope',
  extension: {
    uri: 'https://langchain.com/a2a/extensions/history-scope/v1',
    description: 'LangGraph-A2A-History-Scope chooses the history of a task: `task` (default) or `context`.',
  },
} as const

/** The card of an assistant of this server, as the caller can reach it. */
export function cardOf({ engine, card: settings }: A2AContext, call: Call, assistantId: string): A2ACard {
  const agent = engine.agents.get(assistantId)!
  const name = agent.name || assistantId
  const description = agent.description || `The assistant ${name}.`
  const { version = '1.0.0', provider, documentationUrl, iconUrl, extensions, securitySchemes } = settings
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
      extensions: [HISTORY_SCOPE.extension, ...(extensions ?? [])],
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
