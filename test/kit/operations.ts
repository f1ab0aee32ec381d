import { randomUUID } from 'node:crypto'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { answer, tokensGraph } from '../bench/servers/agents.ts'
import { type Calls, counted } from './calls.ts'
import { ALL_CHANNELS } from './channels.ts'
import { isTerminal, type Json, type WireEvent } from './events.ts'
import { parseEvents } from './frames.ts'

/** One thing that a user does, with the most calls of a storage that it may cost on an idle server. */
export interface Operation {
  readonly name: string
  readonly budget: number
  /** Gives the work, which is counted, after what it needs was done. */
  readonly prepare: (door: Door) => Promise<() => Promise<unknown>>
}

interface Door {
  post(path: string, body?: unknown, method?: string): Promise<Json>
  /** Opens the stream of a thread. */
  follow(threadId: string): Promise<Followed>
}

interface Followed {
  /** The events, once those are there. */
  until(done: (events: readonly WireEvent[]) => boolean): Promise<void>
  close(): Promise<void>
}

const asking = defineAgent({
  async run({ interrupt, message }) {
    const reply = await interrupt({ question: 'Go on?' })
    await message(`You said ${String(reply)}.`)
  },
})

/** Waits between two tokens, so that each is an append of its own. */
const slow = defineAgent({
  async run({ message }) {
    const said = message()
    for (let i = 0; i < TOKENS; i++) {
      await said.text('word ')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await said.end()
  },
})

const TOKENS = 20

const input = { messages: [{ role: 'user', content: '3' }] }

const command = (door: Door, threadId: string, method: string, params: object): Promise<Json> =>
  door.post(`/threads/${threadId}/commands`, { id: 1, method, params })

/** Starts a run on a new thread whose stream is open, and follows it to its end. */
const streamed = (assistantId: string) => async (door: Door) => async () => {
  const threadId = randomUUID()
  const followed = await door.follow(threadId)
  await command(door, threadId, 'run.start', { assistant_id: assistantId, input })
  await followed.until((events) => events.some(isTerminal))
  await followed.close()
}

const sends = (door: Door, contextId?: string) =>
  door.post('/a2a/answer', {
    jsonrpc: '2.0',
    id: 1,
    method: 'message/send',
    params: {
      message: {
        kind: 'message',
        role: 'user',
        messageId: randomUUID(),
        parts: [{ kind: 'text', text: 'hi' }],
        ...(contextId && { contextId }),
      },
    },
  })

async function threadOf(door: Door): Promise<string> {
  const { thread_id: threadId } = await door.post('/threads', {})
  await door.post(`/threads/${threadId}/runs/wait`, { assistant_id: 'graph', input })
  return threadId
}

export const OPERATIONS: readonly Operation[] = [
  { name: 'a run of a function on a new thread, streamed', budget: 12, prepare: streamed('answer') },
  { name: 'a run of a graph of one node on a new thread, streamed', budget: 15, prepare: streamed('graph') },
  { name: 'A2A message/send in a new context', budget: 7, prepare: async (door) => () => sends(door) },
  {
    name: 'A2A message/send in a known context',
    budget: 8,
    async prepare(door) {
      const { contextId } = (await sends(door)).result
      return () => sends(door, contextId)
    },
  },
  {
    name: 'A2A tasks/get',
    budget: 2,
    async prepare(door) {
      const { id } = (await sends(door)).result
      return () => door.post('/a2a/answer', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } })
    },
  },
  {
    name: 'runs/wait without a thread: created, run, read, deleted',
    budget: 12,
    prepare: async (door) => () => door.post('/runs/wait', { assistant_id: 'graph', input }),
  },
  {
    name: 'runs/wait on a thread',
    budget: 11,
    async prepare(door) {
      const threadId = await threadOf(door)
      return () => door.post(`/threads/${threadId}/runs/wait`, { assistant_id: 'graph', input })
    },
  },
  {
    name: 'input.respond, streamed to the end of its run',
    budget: 9,
    async prepare(door) {
      const threadId = randomUUID()
      const followed = await door.follow(threadId)
      let asked: WireEvent | undefined
      await command(door, threadId, 'run.start', { assistant_id: 'asking', input })
      await followed.until((events) => {
        asked = events.find(({ method }) => method === 'input.requested')
        return events.some(isTerminal)
      })
      return async () => {
        const { interrupt_id: id, namespace = [] } = asked!.params.data
        await command(door, threadId, 'input.respond', { namespace, interrupt_id: id, response: 'yes' })
        await followed.until((events) => events.filter(isTerminal).length === 2)
        await followed.close()
      }
    },
  },
  {
    name: `${TOKENS} tokens of a function, each by itself, on a stream`,
    budget: TOKENS + 12,
    prepare: streamed('slow'),
  },
  {
    name: 'GET state',
    budget: 2,
    async prepare(door) {
      const threadId = await threadOf(door)
      return () => door.post(`/threads/${threadId}/state`, undefined, 'GET')
    },
  },
  {
    name: 'threads/search without values',
    budget: 3,
    async prepare(door) {
      await threadOf(door)
      return () => door.post('/threads/search', { select: ['thread_id', 'status'] })
    },
  },
]

/** What the storage of an idle server is asked for in each operation. */
export async function callsOf(
  operation: Operation,
  place: { readonly store: Store; readonly checkpointer: Checkpointer },
): Promise<Calls> {
  const { storage, calls, reset } = counted(place)
  const agents = { answer, asking, slow, graph: langgraph(tokensGraph) }
  const server = createAgentServer({ agents, authenticate: () => ({ id: 'user' }), ...storage })
  const door = doorOf(server)
  try {
    // What is loaded or looked up once in the life of a server is not part of it.
    await (await operation.prepare(door))()
    // Nobody waits for a deletion after an answer, so that its code may still be loading.
    await server.engine.deleteThread({ threadId: randomUUID(), principal: { id: 'user' } })
    const work = await operation.prepare(door)
    await atRest(calls)
    reset()
    await work()
    await atRest(calls)
    const from = calls.from()
    return { made: [...calls.made], from: () => from }
  } finally {
    await server.close()
  }
}

/** Waits until nothing is called any more: what follows an answer, such as the deletion of its thread, is part of the operation. */
async function atRest({ made }: Calls): Promise<void> {
  let seen: number
  do {
    seen = made.length
    await new Promise((resolve) => setTimeout(resolve, 50))
  } while (made.length > seen)
}

function doorOf({ fetch }: { readonly fetch: (request: Request) => Promise<Response> }): Door {
  const send = (path: string, body: unknown, method = 'POST') =>
    fetch(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  return {
    async post(path, body, method) {
      const answered: Json = await (await send(path, body, method)).json()
      if (answered.error) throw new Error(`${path}: ${JSON.stringify(answered)}`)
      return answered
    },
    async follow(threadId) {
      const response = await send(`/threads/${threadId}/stream/events`, { channels: ALL_CHANNELS })
      const reader = response.body!.getReader()
      // The opening comment.
      await reader.read()
      const events: WireEvent[] = []
      return {
        async until(done) {
          while (!done(events)) {
            const { value } = await reader.read()
            events.push(...parseEvents(value!))
          }
        },
        close: () => reader.cancel(),
      }
    },
  }
}
