import type { Fields } from './record.ts'

/** The settings of an assistant, a thread or a run. */
export interface RunSettings {
  readonly config?: { readonly configurable?: Fields | undefined } | undefined
  readonly context?: Fields | undefined
  readonly metadata?: Fields | undefined
}

export interface MergedSettings extends RunSettings {
  readonly config: { readonly configurable?: Fields }
  readonly context: Fields
  readonly metadata: Fields
}

/**
 * Merges the settings of a run. Later arguments take precedence. `config.configurable`, `context` and
 * `metadata` are merged by key.
 */
export function mergeSettings(...all: readonly (RunSettings | undefined)[]): MergedSettings {
  const merged = (of: (settings: RunSettings) => unknown): Fields =>
    Object.assign({}, ...all.map((settings) => settings && of(settings)))
  const configurable = merged(({ config }) => config?.configurable)
  return {
    config: {
      ...merged(({ config }) => config),
      ...(Object.keys(configurable).length > 0 && { configurable }),
    },
    context: merged(({ context }) => context),
    metadata: merged(({ metadata }) => metadata),
  }
}
