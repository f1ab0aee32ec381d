import { Client } from '@langchain/langgraph-sdk'
import { StreamController, type StreamControllerOptions } from '@langchain/langgraph-sdk/stream'
import { expect, onTestFinished } from 'vitest'
import type { AdapterTarget } from '../../../src/audit/index.ts'
import { type Agent, createAgentServer, type OwnEngineOptions } from '../../../src/index.ts'
import { errorMessage, unexpectedErrors } from '../../kit/errors.ts'
import type { Json } from '../../kit/events.ts'
import { startProxy } from '../../kit/proxy.ts'
import { untilStore } from '../../kit/stream-store.ts'

/** The two versions of the SDK that may be on a page: the newest, and the one inside of `@langchain/react`. */
export interface Sdk {
  readonly Client: typeof Client
  readonly StreamController: typeof StreamController
}

export const newest: Sdk = { Client, StreamController }

export type Controller = StreamController<Json, Json>

/** Agents behind a framework and a network, and real clients of them. */
export interface Stage {
  readonly apiUrl: string
  readonly client: Client
  readonly errors: unknown[]
  /** A page with a client of its own and the controller under `useStream`. It is disposed with the test. */
  page(assistantId: string, options?: Partial<StreamControllerOptions<Json>>): Controller
  cut(): void
  /** Settles when no run holds the thread. */
  idle(threadId: string): Promise<void>
  /** Closes the server and starts another one in its place. Pages stay open. */
  restart(options?: Partial<OwnEngineOptions>): Promise<void>
}

export async function setStage(
  target: AdapterTarget,
  agents: Readonly<Record<string, Agent>>,
  { sdk = newest, ...options }: Partial<OwnEngineOptions> & { readonly sdk?: Sdk } = {},
): Promise<Stage> {
  const { errors, reporters } = unexpectedErrors(options.observe)
  const mount = target.can.includes('mount') ? '/api' : undefined
  const start = (more: Partial<OwnEngineOptions> = {}) => {
    const server = createAgentServer({ agents, errorMessage, ...options, ...more, ...reporters })
    return target.start(server, { mount })
  }
  let started = await start()
  const proxy = await startProxy(started.origin)
  const apiUrl = new URL(proxy.url).origin + (mount ?? '')
  const newClient = () => new sdk.Client({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0 } })
  onTestFinished(async () => {
    await proxy.close()
    await started.close()
    // A page may reconnect while the server closes.
    expect(errors.filter((error) => (error as Json).code !== 'closed')).toEqual([])
  })
  const client = newClient()
  return {
    apiUrl,
    client,
    errors,
    cut: proxy.cut,
    async idle(threadId) {
      while ((await client.threads.get(threadId)).status === 'busy');
    },
    async restart(more) {
      proxy.hold()
      await started.close()
      started = await start(more)
      proxy.turnTo(started.origin)
    },
    page(assistantId, more = {}) {
      const controller: Controller = new sdk.StreamController({
        assistantId,
        client: newClient(),
        reconnectDelayMs: () => 5,
        ...more,
      })
      onTestFinished(() => controller.dispose())
      return controller
    },
  }
}

/** A message as `type: text`, a message that calls tools as `type -> names`. */
export const brief = (message: Json): string => {
  const calls = message.tool_calls?.map(({ name }: Json) => name) ?? []
  return calls.length > 0
    ? `${message.getType()} -> ${calls.join()}`
    : `${message.getType()}: ${message.text}`
}

export const briefly = (controller: Controller): string[] =>
  controller.rootStore.getSnapshot().messages.map(brief)

/**
 * Settles when the page is idle and shows these messages. A run may have ended before the page has read its messages, because
 * `submit` learns of the end from another connection than the one that carries the messages.
 */
export async function shows(controller: Controller, messages: readonly string[]): Promise<void> {
  let last: string[] = []
  const same = untilStore(controller.rootStore, ({ isLoading }) => {
    last = briefly(controller)
    return !isLoading && JSON.stringify(last) === JSON.stringify(messages)
  })
  await within(same, () => `${JSON.stringify(last)} instead of ${JSON.stringify(messages)}`)
}

/**
 * Settles when the page shows so many questions. A run may have ended before the page has read them, for the same reason as in
 * `shows`.
 */
export const asked = (controller: Controller, count = 1) =>
  untilStore(controller.rootStore, ({ interrupts }) => interrupts.length === count)

/**
 * Disturbs the connections of a page, and settles when its two streams are open again. Only then the page may submit, because a
 * command on a connection that was just lost fails by itself.
 */
export async function afterReconnect(page: ReconnectingPage, disturb: () => unknown): Promise<void> {
  const back = page.connected(2)
  await disturb()
  await back
}

export interface ReconnectingPage {
  readonly onConnected: () => void
  /** Settles when the page has opened so many streams from now on. */
  connected(streams: number): Promise<void>
}

export function reconnecting(): ReconnectingPage {
  let count = () => {}
  return {
    onConnected: () => count(),
    connected: (streams) =>
      new Promise((resolve) => {
        let left = streams
        count = () => --left === 0 && resolve()
      }),
  }
}

/** Makes a test that waits too long say what it saw. */
async function within<T>(work: Promise<T>, seen: () => string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(seen())), 15_000)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

export const human = (content: string) => ({ messages: [{ type: 'human', content }] })
