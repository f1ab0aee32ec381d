import { Client } from '@langchain/langgraph-sdk'
import { StreamController, type StreamControllerOptions } from '@langchain/langgraph-sdk/stream'
import { describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { Json } from '../kit/events.ts'
import { untilStore } from '../kit/stream-store.ts'
import { slowSteps } from '../threads/sdk/graphs.ts'
import { scenarios } from '../threads/sdk/scenarios.ts'
import { type Sdk, setStage } from '../threads/sdk/stage.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { unharmed } from './unharmed.ts'

/** The same pages as over server-sent events, with LangGraph's own web socket transport. */
class OverSockets extends StreamController<Json, Json> {
  constructor(options: StreamControllerOptions<Json>) {
    super({
      ...options,
      transport: 'websocket',
      webSocketFactory: (url: string) => new WebSocket(url),
    } as unknown as StreamControllerOptions<Json>)
  }
}

const sdk = { Client, StreamController: OverSockets } as unknown as Sdk

/**
 * It submits before the first run has been answered. Over sockets this client then opens its subscriptions one after the other, and
 * stops to read the second where the first one tells the end of the run.
 */
const HASTY = 'each strategy applies to what is submitted during a run'
const calm = Object.entries(scenarios).filter(([name]) => name !== HASTY)

describe.each(chosen)('web sockets of $name', (target) => {
  test.each(calm)('%s', (_, scenario) => unharmed(() => scenario(target, sdk)))

  test.each([
    ['interrupt', ['first', 'one', 'second', 'one', 'two']],
    ['rollback', ['second', 'one', 'two']],
  ] as const)('%s applies to what a page submits once it shows the run before', (strategy, notes) =>
    unharmed(async () => {
      const { graph, reached } = slowSteps()
      const stage = await setStage(target, { a: langgraph(graph) }, { sdk })
      const page = stage.page('a')
      const first = page.submit({ notes: ['first'] })
      await reached
      await untilStore(page.rootStore, ({ values }) => values.notes?.length === 2)
      await page.submit({ notes: ['second'] }, { multitaskStrategy: strategy })
      await first
      const { values } = await untilStore(
        page.rootStore,
        (now) => !now.isLoading && now.values.notes?.at(-1) === 'two',
      )
      expect(values.notes).toEqual(notes)
    }),
  )
})
