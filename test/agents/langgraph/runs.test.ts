import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MemorySaver,
  START,
  StateGraph,
  StreamChannel,
} from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { AgentwireError } from '../../../src/core/errors.ts'
import type { Checkpointer } from '../../../src/storage/checkpointer/checkpointer.ts'
import { hooked, type SaverHook } from '../../../src/storage/checkpointer/hooks.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { calculator, endless, fanOut, Notes, nestedApproval, threeSteps } from '../../fixtures/graphs.ts'
import { dataOf, humanInput, lines, of, threadOf } from '../../fixtures/tasks.ts'

const notes = { kind: 'input', value: { notes: ['in'] } } as const

/** A graph of one node. */
const single = (
  node: (state: typeof Notes.State, config: LangGraphRunnableConfig) => unknown,
  options?: object,
) =>
  new StateGraph(Notes)
    .addNode('node', node as () => object)
    .addEdge(START, 'node')
    .addEdge('node', END)
    .compile(options)

describe('langgraph()', () => {
  test('gives the agent a name and description from the graph or from the options', () => {
    const graph = single(() => ({}), { name: 'named', description: 'described' })
    expect(langgraph(graph)).toMatchObject({ name: 'named', description: 'described', resumable: true })
    expect(langgraph(graph, { name: 'n', description: 'd' })).toMatchObject({ name: 'n', description: 'd' })
    expect(langgraph(single(() => ({}))).name).toBeUndefined()
  })

  test('refuses anything but a compiled graph, with advice', () => {
    const uncompiled = new StateGraph(Notes).addNode('n', () => ({})).addEdge(START, 'n')
    for (const wrong of [uncompiled, {}, { graph: {} }]) {
      expect(() => langgraph(wrong as never)).toThrow(AgentwireError)
      expect(() => langgraph(wrong as never)).toThrow(/compile\(\)/)
    }
  })

  test('does not change the graph', async () => {
    const graph = nestedApproval()
    const before: Record<string, unknown> = { ...graph }
    const triggers = JSON.stringify(before.triggerToNodes)
    const thread = threadOf(langgraph(graph), memoryCheckpointer())
    await thread.run(notes)
    await thread.state()
    await thread.history()
    expect({ ...graph }).toEqual(before)
    for (const [key, value] of Object.entries({ ...graph })) expect(value).toBe(before[key])
    expect(JSON.stringify(before.triggerToNodes)).toBe(triggers)
    expect(graph.checkpointer).toBeUndefined()
  })
})

describe('the checkpointer', () => {
  test('comes from the task where the graph has none', async () => {
    const agent = langgraph(threeSteps())
    expect(agent.checkpointer).toBeUndefined()
    const [one, two] = [memoryCheckpointer(), memoryCheckpointer()]
    await threadOf(agent, one).run(notes)
    expect(await threadOf(agent, one).state()).toMatchObject({
      values: { notes: ['in', 'one', 'two', 'three'] },
    })
    expect(await threadOf(agent, two).state()).toBeUndefined()
  })

  test('comes from the graph where it has one, and a run uses the view of it that its task has', async () => {
    const own = new MemorySaver()
    const agent = langgraph(threeSteps(() => {}, { checkpointer: own }))
    expect(agent.checkpointer).toBe(own)
    let puts = 0
    const count: SaverHook = {
      put(put, ...args) {
        puts++
        return put(...args)
      },
    }
    const view = hooked(own, [count])
    await threadOf(agent, view).run(notes)
    expect(puts).toBe(5)
    expect(await threadOf(agent, own).state()).toMatchObject({
      values: { notes: ['in', 'one', 'two', 'three'] },
    })
  })

  test('may be turned off by the graph', async () => {
    const agent = langgraph(threeSteps(() => {}, { checkpointer: false }))
    expect(agent.checkpointer).toBeUndefined()
    const saver = memoryCheckpointer()
    const thread = threadOf(agent, saver)
    const { events } = await thread.run(notes)
    expect(dataOf(events, 'values').at(-1)).toEqual({ notes: ['in', 'one', 'two', 'three'] })
    expect(await saver.getTuple({ configurable: { thread_id: thread.at.threadId } })).toBeUndefined()
    expect(await thread.state()).toBeUndefined()
    expect(await thread.history()).toEqual([])
    await expect(agent.updateState(thread.at, { values: { notes: [] } })).rejects.toThrow(
      'does not store state',
    )
  })

  test('needs no method beyond the contract', async () => {
    const inner = memoryCheckpointer()
    const least: Checkpointer = Object.freeze({
      getTuple: inner.getTuple,
      list: inner.list,
      put: inner.put,
      putWrites: inner.putWrites,
      deleteThread: inner.deleteThread,
    })
    const thread = threadOf(langgraph(threeSteps()), least)
    expect((await thread.run(notes)).error).toBeUndefined()
    expect(await thread.state()).toMatchObject({ values: { notes: ['in', 'one', 'two', 'three'] } })
    expect(await langgraph(threeSteps()).updateState(thread.at, { values: { notes: ['x'] } })).toHaveProperty(
      'checkpointId',
    )
  })

  test('fails the run with its own error when it refuses a write', async () => {
    const refusal = new AgentwireError('fenced', 'no longer yours')
    const saver = memoryCheckpointer()
    saver.put = () => Promise.reject(refusal)
    expect((await threadOf(langgraph(threeSteps()), saver).run(notes)).error).toBe(refusal)
  })
})

describe('the config of a run', () => {
  test('reaches the nodes, except for the keys that the caller may not set', async () => {
    let seen: LangGraphRunnableConfig | undefined
    const agent = langgraph(
      single((_, config) => {
        seen = config
        return {}
      }),
    )
    await threadOf(agent, memoryCheckpointer()).run(notes, {
      config: {
        configurable: {
          mine: 1,
          thread_id: 'another',
          checkpoint_id: 'x',
          checkpoint_ns: 'y',
          __pregel_read: 'z',
          __pregel_checkpointer: 'z',
        },
        recursionLimit: 7,
        tags: ['tagged'],
        metadata: { from: 'test' },
      },
    })
    expect(seen).toMatchObject({
      configurable: { mine: 1, thread_id: 'thread-1', run_id: 'run-1' },
      recursionLimit: 7,
      metadata: { from: 'test', thread_id: 'thread-1', run_id: 'run-1' },
    })
    expect(seen!.tags).toContain('tagged')
    expect(seen!.configurable!.checkpoint_ns).toMatch(/^node:/)
    expect(seen!.configurable!.__pregel_read).not.toBe('z')
  })

  test('keeps the defaults of the graph', async () => {
    let limit: number | undefined
    const graph = single((_, config) => {
      limit = config.recursionLimit
      return {}
    }).withConfig({ recursionLimit: 99 })
    await threadOf(langgraph(graph), memoryCheckpointer()).run(notes)
    expect(limit).toBe(99)
  })

  test('does not pass from a run to another run that is started inside of it', async () => {
    const saver = memoryCheckpointer()
    const inner = threadOf(
      langgraph(
        single(() => {
          return {
            notes: [String(AsyncLocalStorageProviderSingleton.getRunnableConfig()?.metadata?.thread_id)],
          }
        }),
      ),
      saver,
      'inner',
    )
    const outer = threadOf(
      langgraph(
        single(async () => {
          const { events } = await inner.run(notes)
          return { notes: dataOf(events, 'values').at(-1).notes }
        }),
      ),
      saver,
      'outer',
    )
    const { events } = await outer.run(notes)
    expect(dataOf(events, 'values')).toEqual([{ notes: ['in'] }, { notes: ['in', 'in', 'inner'] }])
    expect((await inner.state())!.values.notes).toEqual(['in', 'inner'])
  })
})

describe('writes of nodes', () => {
  test('keep the name and payload of custom events', async () => {
    const graph = single((_, { writer }) => {
      writer?.({ name: 'progress', payload: new Map([['done', 1n]]) })
      writer?.({ other: 1 })
      writer?.(['a'])
      return {}
    })
    const { events } = await threadOf(langgraph(graph), memoryCheckpointer()).run(notes)
    expect(dataOf(events, 'custom')).toEqual([
      { name: 'progress', payload: { done: '1' } },
      { payload: { other: 1 } },
      { payload: ['a'] },
    ])
  })

  test('to named channels of a stream transformer become custom events, never between a checkpoint and its values', async () => {
    const graph = new StateGraph(Notes)
      .addNode('node', () => ({ notes: ['x'] }))
      .addEdge(START, 'node')
      .addEdge('node', END)
      .compile({
        transformers: [
          () => {
            const channel = StreamChannel.remote<object>('seen')
            let values = 0
            return {
              init: () => ({ seen: channel, total: Promise.resolve('all') }),
              process(event: { readonly method: string }) {
                if (event.method === 'values') channel.push({ values: ++values })
                return true
              },
            }
          },
        ] as never,
      })
    const { events } = await threadOf(langgraph(graph), memoryCheckpointer()).run(notes)
    expect(lines(events)).toEqual([
      'custom [] seen',
      'checkpoints [] step0',
      'values []',
      'tasks [] node start',
      'updates [] node',
      'tasks [] node result',
      'custom [] seen',
      'checkpoints [] step1',
      'values []',
      'custom [] total',
    ])
    expect(dataOf(events, 'custom')).toEqual([
      { name: 'seen', payload: { values: 1 } },
      { name: 'seen', payload: { values: 2 } },
      { name: 'total', payload: 'all' },
    ])
  })

  test('become JSON, whatever their shape', async () => {
    const Odd = Annotation.Root({ odd: Annotation<unknown>() })
    const graph = new StateGraph(Odd)
      .addNode('node', () => ({
        odd: { at: new Date(0), set: new Set([1]), big: 2n, not: Number.NaN, fn: () => 1 },
      }))
      .addEdge(START, 'node')
      .addEdge('node', END)
      .compile({ checkpointer: false })
    const { events } = await threadOf(langgraph(graph), memoryCheckpointer()).run({
      kind: 'input',
      value: { odd: 1 },
    })
    const odd = { at: '1970-01-01T00:00:00.000Z', set: [1], big: '2', not: null }
    expect(dataOf(events, 'values').at(-1)).toEqual({ odd })
    expect(dataOf(events, 'updates')).toEqual([{ node: 'node', values: { odd } }])
  })

  test('of parallel tasks by Send become one update for each task', async () => {
    const { events } = await threadOf(langgraph(fanOut(['a', 'b', 'c'])), memoryCheckpointer()).run(notes)
    expect(dataOf(events, 'updates').slice(1)).toEqual(
      ['a', 'b', 'c'].map((name) => ({ node: 'work', values: { notes: [name] } })),
    )
    expect(dataOf(events, 'values').at(-1)).toEqual({ notes: ['in', 'a', 'b', 'c'] })
  })
})

describe('a failing run', () => {
  test('throws the error of a node unchanged, after all earlier events', async () => {
    const kaput = new Error('kaput')
    const thread = threadOf(
      langgraph(
        threeSteps((name) => {
          if (name === 'two') throw kaput
        }),
      ),
      memoryCheckpointer(),
    )
    const { events, error } = await thread.run(notes)
    expect(error).toBe(kaput)
    expect(lines(events).slice(-4)).toEqual([
      'checkpoints [] step1',
      'values []',
      'tasks [] two start',
      'tasks [] two result',
    ])
    expect(await thread.state()).toMatchObject({
      values: { notes: ['in', 'one'] },
      next: ['two'],
      tasks: [{ name: 'two', error: 'kaput', interrupts: [] }],
    })
  })

  test('fails the namespaces that have started', async () => {
    const inner = single(() => {
      throw new Error('kaput')
    })
    const graph = new StateGraph(Notes).addNode('sub', inner).addEdge(START, 'sub').compile()
    const { events } = await threadOf(langgraph(graph), memoryCheckpointer()).run(notes)
    expect(of(events, 'lifecycle').map(({ namespace, data }) => [namespace.length, data])).toEqual([
      [1, { event: 'started', graph_name: 'sub' }],
      [1, { event: 'failed', graph_name: 'sub' }],
    ])
  })

  test('stops at the recursion limit where the graph does not end', async () => {
    const { events, error } = await threadOf(langgraph(endless()), memoryCheckpointer()).run(notes, {
      config: { configurable: {}, recursionLimit: 3 },
    })
    expect(error).toMatchObject({ name: 'GraphRecursionError' })
    expect(dataOf(events, 'values').at(-1)).toEqual({ notes: ['in', 'again', 'again', 'again'] })
  })

  test('throws for an input that the state cannot take', async () => {
    const { error } = await threadOf(langgraph(calculator()), memoryCheckpointer()).run({
      kind: 'input',
      value: { messages: 42 },
    })
    expect(error).toBeInstanceOf(Error)
  })
})

describe('a stopped run', () => {
  /** Node `two` never ends, and `reached` settles when it starts. */
  function stuck(options: { readonly obeys: boolean }) {
    let started!: (signal: AbortSignal | undefined) => void
    const reached = new Promise<AbortSignal | undefined>((resolve) => (started = resolve))
    const graph = threeSteps((name, { signal }) => {
      if (name !== 'two') return
      started(signal)
      return new Promise((_, reject) => {
        if (options.obeys) signal?.addEventListener('abort', () => reject(signal.reason))
      })
    })
    return { agent: langgraph(graph), reached }
  }

  test.each([true, false])(
    'throws the reason of its signal, also in a node that ignores the signal (obeys: %s)',
    async (obeys) => {
      const { agent, reached } = stuck({ obeys })
      const thread = threadOf(agent, memoryCheckpointer())
      const stop = new AbortController()
      const running = thread.run(notes, { signal: stop.signal })
      await reached
      const reason = new Error('stop')
      stop.abort(reason)
      expect((await running).error).toBe(reason)
      expect(await thread.state()).toMatchObject({ values: { notes: ['in', 'one'] }, next: ['two'] })
    },
  )

  test('can be continued from its last step', async () => {
    const { agent, reached } = stuck({ obeys: true })
    const saver = memoryCheckpointer()
    const stop = new AbortController()
    const running = threadOf(agent, saver).run(notes, { signal: stop.signal })
    await reached
    stop.abort(new Error('stop'))
    await running
    const thread = threadOf(langgraph(threeSteps()), saver)
    await thread.run({ kind: 'input', value: null })
    expect((await thread.state())!.values.notes).toEqual(['in', 'one', 'two', 'three'])
  })

  test('runs no node when it is stopped before it begins', async () => {
    const saver = memoryCheckpointer()
    const thread = threadOf(langgraph(threeSteps()), saver)
    const reason = new Error('stop')
    const { events, error } = await thread.run(notes, { signal: AbortSignal.abort(reason) })
    expect(error).toBeDefined()
    expect(of(events, 'updates')).toEqual([])
  })

  test('stops its nodes when the reader leaves', async () => {
    const { agent, reached } = stuck({ obeys: true })
    const thread = threadOf(agent, memoryCheckpointer())
    for await (const event of agent.stream(thread.task(notes))) {
      if (event.method === 'tasks' && (event.data as { name: string }).name === 'two') break
    }
    const signal = await reached
    expect(signal!.aborted).toBe(true)
    expect(await thread.state()).toMatchObject({ values: { notes: ['in', 'one'] }, next: ['two'] })
  })

  test('leaves no listeners on the signal of the caller', async () => {
    let listeners = 0
    const { signal } = new AbortController()
    const counted = new Proxy(signal, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          if (key === 'addEventListener') listeners++
          if (key === 'removeEventListener') listeners--
          return member.apply(target, args)
        }
      },
    })
    await threadOf(langgraph(threeSteps()), memoryCheckpointer()).run(notes, { signal: counted })
    expect(listeners).toBe(0)
  })
})

describe('a fork', () => {
  async function forked() {
    const thread = threadOf(langgraph(threeSteps()), memoryCheckpointer())
    await thread.run(notes)
    const history = await thread.history()
    const target = history.find((snapshot) => snapshot.next[0] === 'two')!.checkpoint.checkpointId
    return { thread, target }
  }

  test('without input writes a copy of the checkpoint and continues from it', async () => {
    const { thread, target } = await forked()
    const { events } = await thread.run({ kind: 'input', value: null }, { checkpointId: target })
    expect(dataOf(events, 'checkpoints')[0]).toMatchObject({ source: 'fork', parent_id: target })
    expect(dataOf(events, 'updates').map((data) => data.node)).toEqual(['two', 'three'])
    expect((await thread.state())!.values.notes).toEqual(['in', 'one', 'two', 'three'])
    expect((await thread.history()).filter((snapshot) => snapshot.next.length === 0)).toHaveLength(2)
  })

  test('with input starts again behind the checkpoint', async () => {
    const { thread, target } = await forked()
    const { events } = await thread.run(
      { kind: 'input', value: { notes: ['again'] } },
      { checkpointId: target },
    )
    expect(dataOf(events, 'values')[0]).toEqual({ notes: ['in', 'one', 'again'] })
    const input = (await thread.history()).find(
      (snapshot) => snapshot.metadata.source === 'input' && snapshot.parentCheckpoint !== null,
    )
    expect(input!.parentCheckpoint!.checkpointId).toBe(target)
    expect((await thread.state())!.values.notes).toEqual(['in', 'one', 'again', 'one', 'two', 'three'])
  })

  test('of a turn continues without the messages of the other branch', async () => {
    const thread = threadOf(langgraph(calculator()), memoryCheckpointer())
    await thread.run(humanInput('first', 'h1'))
    const end = (await thread.state())!.checkpoint.checkpointId
    await thread.run(humanInput('second', 'h2'))
    await thread.run(humanInput('other', 'h3'), { checkpointId: end })
    const ids = ((await thread.state())!.values.messages as { id: string; type: string }[])
      .filter((message) => message.type === 'human')
      .map((message) => message.id)
    expect(ids).toEqual(['h1', 'h3'])
  })
})
