import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { reloads } from '../threads/sdk/reloads.ts'
import { scenarios } from '../threads/sdk/scenarios.ts'
import type { Sdk } from '../threads/sdk/stage.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

/** `@langchain/react` depends on an SDK of its own, whose `StreamController` is under `useStream`. */

const fromReact = createRequire(createRequire(import.meta.url).resolve('@langchain/react'))
const load = (name: string) => import(pathToFileURL(fromReact.resolve(name)).href)
const { Client } = await load('@langchain/langgraph-sdk')
const { StreamController } = await load('@langchain/langgraph-sdk/stream')
const sdk: Sdk = { Client, StreamController }

test('the SDK of @langchain/react is another version than the newest', () => {
  const { version } = fromReact('@langchain/langgraph-sdk/package.json')
  const { version: newest } = createRequire(import.meta.url)('@langchain/langgraph-sdk/package.json')
  expect(version).not.toBe(newest)
})

describe.each(chosen.slice(0, 1))('$name', (target) => {
  test.each(Object.entries({ ...scenarios, ...reloads }))('%s', (_, scenario) =>
    unharmed(() => scenario(target, sdk)),
  )
})
