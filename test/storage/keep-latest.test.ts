import {
  Annotation,
  Command,
  DeltaChannel,
  END,
  interrupt,
  MemorySaver,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import Redis from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { DATABASE } from '../../src/storage/checkpointer/fenced.ts'
import {
  type MemoryCheckpointer,
  type MemoryThreads,
  memoryCheckpointerIn,
} from '../../src/storage/memory/checkpointer.ts'
import { openStorage } from '../../src/storage/open.ts'
import { BACKENDS } from '../kit/backends.ts'
import { query } from '../kit/postgres-server.ts'

/** How much is stored: of memory checkpoints and writes, of databases checkpoints, writes and values of channels as well. */
type Count = () => Promise<readonly number[]>

const TABLES = ['checkpoints', 'writes', 'channel_values'].map((name) => `agentwire_${name}`)

async function countSqlite(url: string): Promise<number[]> {
  const { default: Database } = await import('libsql')
  const database = new Database(url.slice('file:'.length))
  try {
    return TABLES.map((table) => {
      const row = database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }
      return Number(row.n)
    })
  } finally {
    database.close()
  }
}

async function countPostgres(url: string): Promise<number[]> {
  const counts = TABLES.map(async (table) => {
    const [row] = await query(url, `SELECT count(*)::int AS n FROM ${table}`)
    return Number(row!.n)
  })
  return Promise.all(counts)
}

async function countRedis(url: string): Promise<number[]> {
  const client = new Redis(url)
  try {
    const fields = await client.hkeys((await client.keys('*:saved'))[0]!)
    // A checkpoint has `c` and `b`, a value has `v` and shares `i` with those of its version.
    return ['c', 'b', 'w', 'v', 'i'].map((kind) => fields.filter((field) => field.startsWith(kind)).length)
  } finally {
    client.disconnect()
  }
}

const COUNTS = { sqlite: countSqlite, postgres: countPostgres, redis: countRedis }

const STORES = [
  {
    name: 'memory',
    async open() {
      const threads: MemoryThreads = new Map()
      const count: Count = async () => {
        const namespaces = [...threads.values()].flatMap((thread) => [...thread.values()])
        return ['kept' as const, 'writes' as const].map((part) =>
          namespaces.reduce((sum, namespace) => sum + namespace[part].size, 0),
        )
      }
      return { saver: memoryCheckpointerIn(threads) as unknown as MemorySaver, count }
    },
  },
  ...BACKENDS.filter((backend) => backend.installed()).map((backend) => ({
    name: backend.name,
    async open() {
      const database = await backend.create()
      const { checkpointer, close } = await openStorage(database.url)
      expect(DATABASE in checkpointer).toBe(true)
      onTestFinished(async () => {
        await close()
        await database.remove()
      })
      const count: Count = () => COUNTS[backend.name](database.url)
      return { saver: checkpointer as unknown as MemorySaver, count }
    },
  })),
]

const keepLatest = (saver: MemorySaver, asOf?: string) =>
  (saver as unknown as { keepLatest(threadId: string, asOf?: string): Promise<void> }).keepLatest('t', asOf)

const config = { configurable: { thread_id: 't' } }

const State = Annotation.Root({
  /** Each once, because a subgraph gives back what it was given. */
  parts: Annotation<string[]>({ reducer: (a, b) => [...new Set([...a, ...b])], default: () => [] }),
  /** Large, and written once. */
  document: Annotation<string>(),
})

/** Parallel tasks, a subgraph that remembers, one that does not, and a question inside of the latter. */
function build(saver: MemorySaver) {
  const sub = (name: string) =>
    new StateGraph(State)
      .addNode('inner', ({ parts }) => ({ parts: [`${name} after ${parts.length}`] }))
      .addNode('ask', () => (name === 'forgets' ? { parts: [`answer ${interrupt('go on?')}`] } : {}))
      .addEdge(START, 'inner')
      .addEdge('inner', 'ask')
      .addEdge('ask', END)
  return new StateGraph(State)
    .addNode('begin', () => ({ parts: ['begun'] }))
    .addNode('part', ({ name }: { name: string }) => ({ parts: [name] }))
    .addNode('remembers', sub('remembers').compile({ checkpointer: true }))
    .addNode('forgets', sub('forgets').compile())
    .addEdge(START, 'begin')
    .addConditionalEdges('begin', () => ['b', 'a'].map((name) => new Send('part', { name })))
    .addEdge('part', 'remembers')
    .addEdge('remembers', 'forgets')
    .addEdge('forgets', END)
    .compile({ checkpointer: saver })
}

/** A state with those of its subgraphs, but for what depends on earlier checkpoints. */
const whole = async (graph: ReturnType<typeof build>) =>
  JSON.parse(JSON.stringify(await graph.getState(config, { subgraphs: true })))

async function namespacesOf(saver: MemorySaver): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for await (const { config: at } of saver.list(config)) {
    const namespace = String(at.configurable!.checkpoint_ns).replace(/:[^|]*/g, '')
    counts[namespace] = (counts[namespace] ?? 0) + 1
  }
  return counts
}

describe.each(STORES)('keepLatest over $name', ({ open }) => {
  test('leaves one checkpoint of each namespace, frees the rest, and a question is still answered', async () => {
    const { saver, count } = await open()
    const graph = build(saver)
    await graph.invoke({ parts: ['one'], document: 'x'.repeat(10_000) }, config)
    await graph.invoke(new Command({ resume: 'yes' }), config)
    await graph.invoke({ parts: ['two'] }, config)
    const before = await whole(graph)
    expect(before.tasks[0].interrupts).toHaveLength(1)
    const counted = await count()
    await keepLatest(saver)
    expect(await namespacesOf(saver)).toEqual({ '': 1, remembers: 1, forgets: 2 })
    expect(await whole(graph)).toEqual(before)
    const [checkpoints, ...rest] = await count()
    expect(checkpoints).toBe(4)
    for (const [i, left] of rest.entries()) expect(left).toBeLessThan(counted[i + 1]! / 2)
    const answered = await graph.invoke(new Command({ resume: 'again' }), config)
    expect(answered.parts.slice(-2)).toEqual(['forgets after 9', 'answer again'])
    expect(answered.document).toHaveLength(10_000)
    // Shortened again and again, a thread does not grow.
    const sizes: string[] = []
    for (const resume of ['a', 'b']) {
      await graph.invoke({ parts: [] }, config)
      await graph.invoke(new Command({ resume }), config)
      await keepLatest(saver)
      sizes.push(Object.keys(await namespacesOf(saver)).join())
      expect(await namespacesOf(saver)).toMatchObject({ '': 1, remembers: 1 })
    }
    expect(sizes[0]).toBe(sizes[1])
  })

  test('a thread goes on from the checkpoint that stays: updates, forks and runs', async () => {
    const { saver } = await open()
    const graph = build(saver)
    await graph.invoke({ parts: ['one'], document: 'kept' }, config)
    await graph.invoke(new Command({ resume: 'yes' }), config)
    await keepLatest(saver)
    const newest = await graph.getState(config)
    await graph.updateState(config, { parts: ['edited'] }, 'forgets')
    const forked = await graph.updateState(newest.config, { parts: ['forked'] }, 'forgets')
    const parts = [...newest.values.parts]
    expect((await graph.getState(config)).values).toEqual({ parts: [...parts, 'forked'], document: 'kept' })
    expect((await graph.getState(forked)).parentConfig?.configurable?.checkpoint_id).toBe(
      newest.config.configurable!.checkpoint_id,
    )
    const history = []
    for await (const { values } of graph.getStateHistory(config)) history.push(values)
    expect(history.map((values) => values.parts.at(-1))).toEqual(['forked', 'edited', parts.at(-1)])
    await keepLatest(saver)
    expect(await namespacesOf(saver)).toMatchObject({ '': 1 })
    await graph.invoke({ parts: ['next'] }, config)
    expect((await graph.getState(config)).values.parts.slice(0, parts.length + 2)).toEqual([
      ...parts,
      ...['forked', 'next'],
    ])
  })

  test('delta channels keep their values, and what they are made of goes with the next snapshot', async () => {
    const { saver } = await open()
    const log = new DeltaChannel<string[], string[]>((before, writes) => before.concat(...writes), {
      snapshotFrequency: 4,
    })
    const Delta = Annotation.Root({ log: () => log as never, plain: Annotation<number> })
    const graph = new StateGraph(Delta)
      .addNode('one', () => ({ log: ['one'], plain: 1 }) as never)
      .addNode('two', () => ({ log: ['two'] }) as never)
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', END)
      .compile({ checkpointer: saver })
    let sizes = 0
    const seen = new Set<number>()
    const logs: string[] = []
    for (let turn = 0; turn < 8; turn++) {
      await graph.invoke({ log: [`in ${turn}`] } as never, config)
      logs.push(`in ${turn}`, 'one', 'two')
      await keepLatest(saver)
      const { '': left = 0 } = await namespacesOf(saver)
      seen.add(left)
      sizes = Math.max(sizes, left)
      expect((await graph.getState(config)).values).toEqual({ log: logs, plain: 1 })
    }
    // A thread of 8 turns has some forty checkpoints.
    expect(sizes).toBeLessThan(12)
    expect(seen.size).toBeGreaterThan(1)
  })

  test('any string may be the id of a thread, a namespace or a checkpoint', async () => {
    const saver = (await open()).saver as unknown as MemoryCheckpointer
    for (const odd of ['', 'a\0b', '\ud800', 'é🙂'.repeat(100), '__proto__', 'a:b|c\u0001', '{}']) {
      const at = (id?: string) => ({
        configurable: {
          ...{ thread_id: `t${odd}`, checkpoint_ns: odd },
          ...(id !== undefined && { checkpoint_id: id }),
        },
      })
      const idOf = (number: number) => `${number}${odd}`
      for (const number of [1, 2, 3]) {
        const channel_versions = { log: number, [odd]: number }
        await saver.put(
          at(number === 1 ? undefined : idOf(number - 1)),
          {
            ...{ v: 4, id: idOf(number), ts: '', versions_seen: {}, channel_versions },
            channel_values: { [odd]: number, ...(number === 1 && { log: ['seed'] }) },
          },
          {
            ...{ source: 'loop', step: number, parents: {} },
            ...(number > 1 && { counters_since_delta_snapshot: { log: [1, 1] } }),
          },
          channel_versions,
        )
        await saver.putWrites(at(idOf(number)), [['log', [`after ${number}`]]], `task${odd}`)
      }
      await saver.put(
        { configurable: { ...at().configurable, checkpoint_ns: `${odd}x` } },
        { v: 4, id: '1', ts: '', versions_seen: {}, channel_versions: {}, channel_values: {} },
        { source: 'loop', step: 1, parents: {} },
        {},
      )
      await saver.keepLatest(`t${odd}`)
      const left = []
      for await (const { checkpoint } of saver.list(at())) left.push(checkpoint.id)
      expect(left).toEqual([3, 2, 1].map(idOf))
      const tuple = (await saver.getTuple(at()))!
      await saver.put(
        at(idOf(3)),
        {
          ...tuple.checkpoint,
          id: idOf(4),
          channel_values: { ...tuple.checkpoint.channel_values, log: ['all'] },
        },
        tuple.metadata!,
        { log: 4 },
      )
      await saver.keepLatest(`t${odd}`)
      const last = (await saver.getTuple(at()))!
      expect([last.checkpoint.id, last.checkpoint.channel_values]).toEqual([
        ...[idOf(4), { [odd]: 3, log: ['all'] }],
      ])
      expect(await saver.getTuple(at(idOf(3)))).toBeUndefined()
    }
  })

  test('what a thread goes on from stays beside the newest, with what its subgraphs had then', async () => {
    const goOn = async (saver: MemorySaver, shorten: (asOf: string) => Promise<void>) => {
      const graph = build(saver)
      await graph.invoke({ parts: ['one'] }, config)
      await graph.invoke(new Command({ resume: 'yes' }), config)
      const base = await graph.getState(config)
      await graph.invoke({ parts: ['undone'] }, config)
      await shorten(String(base.config.configurable!.checkpoint_id))
      expect((await graph.getState(base.config)).values).toEqual(base.values)
      await graph.invoke({ parts: ['two'] }, base.config)
      return (await graph.getState(config)).values.parts
    }
    const { saver } = await open()
    const parts = await goOn(saver, async (asOf) => {
      await keepLatest(saver, asOf)
      expect(await namespacesOf(saver)).toMatchObject({ '': 2, remembers: 2 })
    })
    expect(parts).toEqual(await goOn(new MemorySaver(), async () => {}))
  })
})
