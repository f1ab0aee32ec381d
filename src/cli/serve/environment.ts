import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { Config } from './config.ts'
import { ConfigError } from './config-reader.ts'

/**
 * Adds the section `env` of a config to an environment. Earlier values of the environment win. Call the
 * returned `apply` again after an edit: values that came from the section change, and removed ones are unset.
 */
export function environment(target: NodeJS.ProcessEnv) {
  const own = new Set(Object.keys(target))
  let applied: readonly string[] = []
  return {
    /** Returns what is missing without being a mistake, as a sentence. */
    apply(config: Config): string | undefined {
      const missing = missingFile(config)
      const variables = missing ? {} : variablesOf(config, target)
      for (const name of applied) if (!own.has(name)) delete target[name]
      applied = Object.keys(variables)
      for (const name of applied) if (!own.has(name)) target[name] = variables[name]
      return missing
    },
  }
}

/** The absolute path of the file with the variables, if it is a file. */
export const envFileOf = ({ env, folder }: Config): string | undefined =>
  typeof env === 'string' ? resolve(folder, env) : undefined

/**
 * Templates name a `.env` that is not in their repository: the environment may already have its variables.
 */
function missingFile(config: Config): string | undefined {
  const file = envFileOf(config)
  if (file === undefined || existsSync(file)) return undefined
  return `env names ${config.env}, but that file does not exist: set its variables in the environment.`
}

function variablesOf(config: Config, target: NodeJS.ProcessEnv): NodeJS.Dict<string> {
  const { env, path } = config
  if (isList(env)) {
    const missing = env.filter((name) => target[name] === undefined)
    if (missing.length === 0) return {}
    throw new ConfigError(
      `${basename(path)}: env requires ${missing.join(', ')} to be set in the environment.`,
    )
  }
  const file = envFileOf(config)
  if (file === undefined) return env as Readonly<Record<string, string>>
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (cause) {
    const message = `${basename(path)}: cannot read ${file}, named by env: ${(cause as Error).message}`
    throw new ConfigError(message)
  }
}

const isList = (env: Config['env']): env is readonly string[] => Array.isArray(env)
