import { AgentwireError } from '../../src/errors.ts'
import {
  type LangGraphAuth,
  type LangGraphAuthOptions,
  langgraphAuth,
} from '../../src/platform/auth/langgraph-auth.ts'
import { ConfigError } from './config-reader.ts'

/** Throws `ConfigError` for anything that is not an `Auth`. */
export function authOf(value: unknown, where: string): LangGraphAuthOptions {
  try {
    return langgraphAuth(value as LangGraphAuth)
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    throw new ConfigError(`${where} ${error.message}`)
  }
}
