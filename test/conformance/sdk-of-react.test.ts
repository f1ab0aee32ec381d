import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { chat } from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { reloads } from '../threads/sdk/reloads.ts'
import { scenarios } from '../threads/sdk/scenarios.ts'
import { human, type Sdk, setStage, shows } from '../threads/sdk/stage.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

/** `@langchain/react` depends on an SDK of its own, whose `StreamController` is under `useStream`. */

const fromReact = createRequire(createRequire(import.meta.url).resolve('@langchain/react'))
const load = (name: string) => import(pathToFileURL(fromReact.resolve(name)).href)
const { Client, HttpAgentServerAdapter } = await load('@langchain/langgraph-sdk')
const { StreamController } = await load('@langchain/langgraph-sdk/stream')
const { STREAM_CONTROLLER, useStream } = await import('@langchain/react')
const sdk: Sdk = { Client, StreamController }

test('the SDK of @langchain/react is another version than the newest', () => {
  const { version } = fromReact('@langchain/langgraph-sdk/package.json')
  const { version: newest } = createRequire(import.meta.url)('@langchain/langgraph-sdk/package.json')
  expect(version).not.toBe(newest)
})

function Page({ transport, show }: { transport: Json; show: (stream: Json) => void }) {
  show(useStream({ transport }))
  return null
}

test('useStream with a transport and no assistant is answered by the default agent', async () => {
  const [target] = chosen
  const stage = await setStage(target!, { chat: langgraph(chat()) })
  const transport = new HttpAgentServerAdapter({ apiUrl: stage.apiUrl, threadId: 'mine' })
  let stream!: Json
  renderToString(
    createElement(Page, {
      transport,
      show: (shown) => {
        stream = shown
      },
    }),
  )
  expect(stream.assistantId).toBe('_')
  await stream.submit(human('Hi'))
  await shows(stream[STREAM_CONTROLLER], ['human: Hi', 'ai: Hello to you.'])
})

describe.each(chosen.slice(0, 1))('$name', (target) => {
  test.each(Object.entries({ ...scenarios, ...reloads }))('%s', (_, scenario) =>
    unharmed(() => scenario(target, sdk)),
  )
})
