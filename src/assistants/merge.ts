import type { Fields } from './record.ts'

/** What an assistant, a thread and a run each say of how to run. */
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

/** The settings of a run: those further right win, the keys of `config.configurable`, `context` and `metadata` one by one. */
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
