import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Reader } from './config-reader.ts'

/** The sections `ui` and `ui_config` of a config. */
export interface UiSection {
  /** Files with components, by the names that clients ask for. */
  readonly files: Readonly<Record<string, string>>
  /** Packages that pages bring along, in place of a copy in each bundle. */
  readonly shared: readonly string[]
  /** The path of the bundler of LangGraph's own server, if the project has it. */
  readonly bundler: string | undefined
}

/** Throws `ConfigError`. */
export function uiOf(at: Reader, folder: string, root: Readonly<Record<string, unknown>>): UiSection {
  const files = Object.entries(at.optional('ui', root.ui))
  const { shared } = at.optional('ui_config', root.ui_config)
  return {
    files: Object.fromEntries(files.map(([name, file]) => [name, at.string(`ui.${name}`, file)])),
    shared: shared === undefined ? [] : at.strings('ui_config.shared', shared),
    bundler: files.length === 0 ? undefined : bundlerOf(folder),
  }
}

function bundlerOf(folder: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve('@langchain/langgraph-ui')
  } catch {
    return undefined
  }
}
