import { createRequire } from 'node:module'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { section, strings } from './config-reader.ts'

/** The sections `ui` and `ui_config` of a config. */
export interface UiSection {
  /** Component files, by the names that clients request. */
  readonly files: Readonly<Record<string, string>>
  /** Packages that pages provide, instead of a copy in each bundle. */
  readonly shared: readonly string[]
  /** The path of the bundler of LangGraph's own server, if the project has it. */
  readonly bundler: string | undefined
}

export const UI_FILES = z.pipe(
  z.transform((value: unknown): unknown => value ?? {}),
  z.record(z.string(), z.string()),
)

export const UI_CONFIG = section({ shared: z.optional(strings) })

export function uiOf(
  folder: string,
  {
    ui,
    ui_config,
  }: { readonly ui: z.output<typeof UI_FILES>; readonly ui_config: z.output<typeof UI_CONFIG> },
): UiSection {
  return {
    files: ui,
    shared: ui_config.shared ?? [],
    bundler: Object.keys(ui).length === 0 ? undefined : bundlerOf(folder),
  }
}

function bundlerOf(folder: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve('@langchain/langgraph-ui')
  } catch {
    return undefined
  }
}
