import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const TEST = fileURLToPath(new URL('../', import.meta.url))

/** Folders whose tests start programs or browsers, or load packages that change the process, such as Next and OpenTelemetry. */
const FOLDERS =
  /^(?:adapters|chat|cli|conformance|devtools|docs|durability|examples|hooks|opentelemetry|react|runtimes|tracing)\//
/** Projects of their own in vitest.config.ts. */
const ELSEWHERE = /^(?:package|chat\/page)\//
const REPLACES_GLOBALS =
  /vi\.(?:useFakeTimers|stubGlobal|stubEnv)|spyOn\((?:console|Date|globalThis|Math)\b|(?:globalThis|process\.env)\.\w+ = /
const MEASURES_MEMORY = /memoryUsage|WeakRef|\/gc\.ts/

/**
 * The test files that need a process of their own: those of `FOLDERS`, and those that replace a clock or a global, or measure the
 * memory of the process. All others share the processes of the workers, which load each module once.
 */
export function filesAlone(): string[] {
  return readdirSync(TEST, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !ELSEWHERE.test(path))
    .filter((path) => FOLDERS.test(path) || isAlone(readFileSync(`${TEST}${path}`, 'utf8')))
    .map((path) => `test/${path}`)
}

const isAlone = (text: string): boolean => REPLACES_GLOBALS.test(text) || MEASURES_MEMORY.test(text)
