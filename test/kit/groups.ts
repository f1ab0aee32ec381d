import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { closureOf, textOf } from './imports.ts'

/** What runs a test file. `npm test` has the first two, `npm run test:all` has all of them. */
export interface Groups {
  /** Files that need nothing but Node. They share the processes of the workers, which load each module once. */
  readonly source: readonly string[]
  /** The same, for files that replace the clock or measure memory: each has a process of its own. */
  readonly alone: readonly string[]
  /** Files of `source` and `alone` once more, over Postgres and Redis in place of memory and SQLite, and those that need one of the two. */
  readonly servers: readonly string[]
  /** Files of `source` once more, through every other adapter: clients and A2A's. */
  readonly adapters: readonly string[]
  /** Files that start programs or build something, over every database. */
  readonly programs: readonly string[]
  /** Files that open pages in Chromium. */
  readonly browser: readonly string[]
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Projects of their own in vitest.config.ts, which build or install something first, and installed packages. */
const ELSEWHERE = /^test\/(?:package|vendors|chat\/page)\/|\/node_modules\//
/** Packages of OpenTelemetry register themselves once for a process. */
const REGISTERS = /^test\/opentelemetry\//
/** In a shared process, work that earlier files left behind would set timers on the replaced clock. */
const REPLACES_CLOCK = /vi\.useFakeTimers|spyOn\(Date\b/
const MEASURES_MEMORY = /memoryUsage|WeakRef|\/gc\.ts/

const BROWSER = 'test/kit/browser.ts'
const SERVERS: readonly string[] = ['test/kit/postgres-server.ts', 'test/kit/redis-server.ts']
/** Nothing in these folders runs without its server. */
const ONLY_SERVERS = /^test\/storage\/(?:postgres|redis)\//
/** The adapters that clients are driven through. */
const ADAPTERS = 'test/threads/sdk/targets.ts'
const STARTS_PROGRAMS = /from 'node:child_process'|process\.execPath/

/** Where a test has its helpers: what the package itself imports says nothing about its tests. */
const HELPERS = /^(?:test|examples|\.ci)\//

/** Sorts the test files by what they and their helpers import, so that no list has to be kept. */
export function groups(): Groups {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path}`)
    .filter((path) => !ELSEWHERE.test(path))
  const found: Record<keyof Groups, string[]> = {
    source: [],
    alone: [],
    servers: [],
    adapters: [],
    programs: [],
    browser: [],
  }
  for (const file of files) {
    const loaded = closureOf(file, (to) => HELPERS.test(to))
    if (loaded.has(BROWSER)) found.browser.push(file)
    else if ([...loaded].some((path) => !SERVERS.includes(path) && STARTS_PROGRAMS.test(textOf(path))))
      found.programs.push(file)
    else {
      if (SERVERS.some((path) => loaded.has(path))) found.servers.push(file)
      if (loaded.has(ADAPTERS)) found.adapters.push(file)
      if (!ONLY_SERVERS.test(file)) found[isAlone(file) ? 'alone' : 'source'].push(file)
    }
  }
  return found
}

const isAlone = (file: string): boolean =>
  REGISTERS.test(file) || REPLACES_CLOCK.test(textOf(file)) || MEASURES_MEMORY.test(textOf(file))
