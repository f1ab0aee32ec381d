import { userOf } from '../core/principal.ts'
import type { StoredConfig, ThreadRecord } from './records/records.ts'
import type { Answers, RunRequest } from './requests.ts'

/** The config of a run with the principal that requests it, under the names of LangGraph's own servers. */
function configOf({ principal, config }: Pick<RunRequest, 'principal' | 'config'>): StoredConfig | undefined {
  if (!principal) return config
  const user = userOf(principal)
  const caller = {
    langgraph_auth_user: user,
    langgraph_auth_user_id: principal.id,
    ...(Array.isArray(user.permissions) && { langgraph_auth_permissions: user.permissions }),
  }
  return { ...config, configurable: { ...config?.configurable, ...caller } }
}

/** A request to start a run with an input. */
export const inputOf = ({ input = null, ...request }: RunRequest) =>
  ({ ...request, ...settingsFor(request), start: { kind: 'input', value: input } }) as const

/** A request to start a run with answers to questions. */
export const answersOf = ({ answers, update, goto, ...request }: Answers) =>
  ({ ...request, ...settingsFor(request), start: { kind: 'resume', answers, update, goto } }) as const

/** The config, or a function if it depends on the thread. */
function settingsFor({
  principal,
  config,
  settingsOf,
}: Pick<RunRequest, 'principal' | 'config' | 'settingsOf'>) {
  if (!settingsOf) return { config: configOf({ principal, config }) }
  return {
    async settingsOf(thread: ThreadRecord) {
      const settings = await settingsOf(thread)
      return { ...settings, config: configOf({ principal, config: settings.config }) }
    },
  }
}
