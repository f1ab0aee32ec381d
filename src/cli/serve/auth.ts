import { AgentwireError } from '../../core/errors.ts'
import type { Authenticate } from '../../core/http/index.ts'
import {
  type LangGraphAuth,
  type LangGraphAuthOptions,
  langgraphAuth,
} from '../../faces/rest/auth/langgraph-auth.ts'
import { ConfigError } from './config-reader.ts'

/** The server options of the section `auth`. */
export type ProjectAuth = Pick<LangGraphAuthOptions, 'authenticate'> & Partial<LangGraphAuthOptions>

/**
 * An `Auth`, or the `authenticate` function of a server. Throws `ConfigError` for anything else.
 */
export function authOf(value: unknown, where: string): ProjectAuth {
  if (typeof value === 'function') return { authenticate: value as Authenticate }
  try {
    return langgraphAuth(value as LangGraphAuth)
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    throw new ConfigError(`${where} ${error.message}`)
  }
}
