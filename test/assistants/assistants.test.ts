import { describe, expect, test } from 'vitest'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import {
  type AssistantOrder,
  type AssistantRecord,
  countAssistants,
  createAssistant,
  deleteAssistant,
  findAssistant,
  listVersions,
  mergeSettings,
  patchAssistant,
  searchAssistants,
  setLatestVersion,
  systemAssistantId,
} from '../../src/engine/assistants/index.ts'
import { namedAssistant } from '../../src/faces/kit/assistants.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { PLACES } from '../kit/databases.ts'
import { engineOf } from '../kit/engine.ts'

const AGENT_ID = 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'
const ann = { id: 'ann' }
const bob = { id: 'bob' }

const agent = defineAgent({ run: () => Promise.resolve() })
const engineOver = (store: Store, graphs: readonly string[] = ['agent', 'other']) =>
  engineOf(Object.fromEntries(graphs.map((id) => [id, agent])), {
    ...(graphs.includes('agent') && { aliases: { old: 'agent' }, defaultAgent: 'agent' }),
    store,
  })

test('the ids of system assistants are those of LangGraph', async () => {
  expect(await systemAssistantId('agent')).toBe(AGENT_ID)
})

test('settings are merged from left to right, those of configurable, context and metadata key by key', () => {
  expect(
    mergeSettings(
      {
        config: { configurable: { a: 1, b: 1 }, tags: ['x'] } as object,
        context: { a: 1 },
        metadata: { a: 1 },
      },
      undefined,
      { config: { configurable: { b: 2 } }, context: { b: 2 }, metadata: { a: 2 } },
    ),
  ).toEqual({
    config: { configurable: { a: 1, b: 2 }, tags: ['x'] },
    context: { a: 1, b: 2 },
    metadata: { a: 2 },
  })
})

describe.each(PLACES)('assistants in $name', ({ open }) => {
  test('a graph has an assistant, found by its id, its name, an alias and the name of the default', async () => {
    const engine = engineOver((await open()).store)
    for (const name of [AGENT_ID, AGENT_ID.toUpperCase(), 'agent', 'old', '_'])
      expect(await findAssistant(engine, ann, name)).toMatchObject({
        assistantId: AGENT_ID,
        graphId: 'agent',
        name: 'agent',
        version: 1,
        metadata: { created_by: 'system' },
        config: {},
        context: {},
      })
    expect(await findAssistant(engine, ann, 'nobody')).toBeUndefined()
    expect(await findAssistant(engine, ann, crypto.randomUUID())).toBeUndefined()
  })

  test('an assistant is its owner’s, and another owner may have one of the same id', async () => {
    const engine = engineOver((await open()).store)
    const assistantId = crypto.randomUUID()
    const made = await createAssistant(engine, ann, { assistantId, graphId: 'old', config: { tags: ['t'] } })
    expect(made).toMatchObject({
      assistantId,
      graphId: 'agent',
      name: 'Untitled',
      version: 1,
      owner: '[id]ann',
    })
    expect(await createAssistant(engine, ann, { assistantId, graphId: 'agent' })).toBeUndefined()
    expect(await findAssistant(engine, bob, assistantId)).toBeUndefined()
    await expect(patchAssistant(engine, bob, assistantId, {})).rejects.toMatchObject({
      code: 'no_such_assistant',
    })
    await expect(deleteAssistant(engine, bob, assistantId)).rejects.toMatchObject({
      code: 'no_such_assistant',
    })
    expect(await createAssistant(engine, bob, { assistantId, graphId: 'other' })).toMatchObject({
      graphId: 'other',
    })
    expect(await deleteAssistant(engine, ann, assistantId)).toBe(assistantId)
    expect(await findAssistant(engine, ann, assistantId)).toBeUndefined()
    expect(await findAssistant(engine, bob, assistantId)).toMatchObject({ graphId: 'other' })
  })

  test('a graph’s id cannot be taken, and a graph that is not there has no assistants', async () => {
    const engine = engineOver((await open()).store)
    expect(await createAssistant(engine, ann, { assistantId: AGENT_ID, graphId: 'other' })).toBeUndefined()
    await expect(createAssistant(engine, ann, { graphId: 'gone' })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  test('a change makes a version above every earlier one, and an earlier one can be put in use', async () => {
    const engine = engineOver((await open()).store)
    const { assistantId } = (await createAssistant(engine, ann, {
      graphId: 'agent',
      name: 'one',
      config: { configurable: { a: 1 } },
      metadata: { a: 1 },
    }))!
    const second = await patchAssistant(engine, ann, assistantId, {
      name: 'two',
      config: { configurable: { b: 2 } },
      metadata: { b: 2 },
    })
    expect(second).toMatchObject({
      version: 2,
      name: 'two',
      config: { configurable: { b: 2 } },
      metadata: { a: 1, b: 2 },
    })
    const first = await setLatestVersion(engine, ann, assistantId, 1)
    expect(first).toMatchObject({ version: 1, name: 'one', metadata: { a: 1 }, createdAt: second.createdAt })
    expect(first.updatedAt).toBeGreaterThan(second.updatedAt)
    expect(await findAssistant(engine, ann, assistantId)).toEqual(first)
    expect(await patchAssistant(engine, ann, assistantId, { graphId: 'other' })).toMatchObject({
      version: 3,
      name: 'one',
      graphId: 'other',
    })
    await expect(setLatestVersion(engine, ann, assistantId, 4)).rejects.toThrow('Assistant version not found')
    const versions = (offset: number, limit: number) =>
      listVersions(engine, ann, assistantId, { offset, limit }).then((all) => all.map((one) => one.version))
    expect(await versions(0, 10)).toEqual([3, 2, 1])
    expect(await versions(1, 1)).toEqual([2])
    await expect(listVersions(engine, bob, assistantId, { offset: 0, limit: 1 })).rejects.toThrow(
      'Assistant not found',
    )
  })

  test('concurrent changes are all kept, each as a version of its own', async () => {
    const { store } = await open()
    const engines = [engineOver(store), engineOver(store)]
    const { assistantId } = (await createAssistant(engines[0]!, ann, { graphId: 'agent' }))!
    const changes = Array.from({ length: 12 }, (_, i) =>
      patchAssistant(engines[i % 2]!, ann, assistantId, { metadata: { [`key${i}`]: i } }),
    )
    const made = (await Promise.all(changes)).map(({ version }) => version).sort((a, b) => a - b)
    expect(made).toEqual(Array.from({ length: 12 }, (_, i) => i + 2))
    const latest = await findAssistant(engines[0]!, ann, assistantId)
    expect(Object.keys(latest?.metadata ?? {})).toHaveLength(12)
    expect(latest?.version).toBe(13)
    expect(await listVersions(engines[0]!, ann, assistantId, { offset: 0, limit: 100 })).toHaveLength(13)
  })

  test('an owner’s changes of a system assistant are that owner’s, and go with the graph', async () => {
    const { store } = await open()
    const engine = engineOver(store)
    expect(await patchAssistant(engine, ann, 'agent', { name: 'mine' })).toMatchObject({
      assistantId: AGENT_ID,
      version: 2,
      name: 'mine',
      metadata: { created_by: 'system' },
    })
    expect(await findAssistant(engine, bob, AGENT_ID)).toMatchObject({ version: 1, name: 'agent' })
    expect(await listVersions(engine, ann, 'agent', { offset: 0, limit: 10 })).toHaveLength(2)
    await expect(patchAssistant(engine, ann, 'agent', { graphId: 'other' })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
    await expect(deleteAssistant(engine, ann, 'agent')).rejects.toMatchObject({ code: 'not_supported' })
    const page = { offset: 0, limit: 10, graphId: 'agent' }
    expect((await searchAssistants(engine, ann, page)).items).toMatchObject([{ name: 'mine' }])
    const without = engineOver(store, ['other'])
    expect(await findAssistant(without, ann, AGENT_ID)).toBeUndefined()
    expect((await searchAssistants(without, ann, page)).items).toEqual([])
    expect(await setLatestVersion(engine, ann, AGENT_ID, 1)).toMatchObject({ version: 1, name: 'agent' })
  })

  test('pages, counts and orders are those of a list in memory', { timeout: 240_000 }, async () => {
    const engine = engineOver((await open()).store, ['b graph', 'agent', 'zebra'])
    const names = ['Zeta', 'alpha', 'agent', 'b graph', 'Ünïcode 😀', '', 'alpha', 'ﬀ', '\0odd\ud800']
    for (let i = 0; i < 27; i++)
      await createAssistant(engine, ann, {
        graphId: ['agent', 'zebra', 'b graph'][i % 3]!,
        name: names[i % names.length]!,
        metadata: { i, even: i % 2 === 0 },
      })
    await createAssistant(engine, bob, { graphId: 'agent', name: 'another’s' })
    await patchAssistant(engine, ann, 'zebra', { name: 'alpha' })
    const everything = await searchAssistants(engine, ann, { offset: 0, limit: 1_000 })
    expect(everything.items).toHaveLength(30)
    expect(new Set(everything.items.map((one) => one.assistantId)).size).toBe(30)
    const orders: readonly AssistantOrder[] = ['assistantId', 'graphId', 'name', 'createdAt', 'updatedAt']
    for (const orderBy of orders)
      for (const ascending of [true, false])
        for (const graphId of [undefined, 'zebra'])
          for (const fits of [undefined, ({ metadata }: AssistantRecord) => metadata.even !== false]) {
            // Control characters and those from the surrogates up are not told apart.
            const plain = (key: string | number) =>
              typeof key === 'string' ? key.replace(/[^ -\ud7ff]/g, '\ud7ff') : key
            const key = (one: AssistantRecord) => [plain(one[orderBy]), one.assistantId] as const
            const sign = ascending ? 1 : -1
            const compare = (a: AssistantRecord, b: AssistantRecord) => {
              const [[x, idX], [y, idY]] = [key(a), key(b)]
              return sign * (x < y ? -1 : x > y ? 1 : idX < idY ? -1 : 1)
            }
            const all = everything.items
              .filter((one) => (graphId ?? one.graphId) === one.graphId && (fits?.(one) ?? true))
              .sort(compare)
            expect(await countAssistants(engine, ann, { graphId, fits })).toBe(all.length)
            for (const [offset, limit] of [
              [0, 1_000],
              [0, 5],
              [3, 4],
              [7, 5],
              [all.length - 2, 5],
              [all.length + 3, 5],
              [2, 0],
            ] as const) {
              const page = await searchAssistants(engine, ann, {
                orderBy,
                ascending,
                graphId,
                fits,
                offset,
                limit,
              })
              expect(page.items).toEqual(all.slice(offset, offset + limit))
              expect(page.total).toBe(fits ? Math.min(all.length, offset + limit + 1) : all.length)
            }
          }
  })
})

test('a run that names a graph reads nothing of assistants', async () => {
  const store = memoryStore()
  const refuse = () => Promise.reject(new Error('The store is not to be read.'))
  const engine = engineOver({ ...store, get: refuse, list: refuse, inspect: refuse })
  expect(await namedAssistant(engine, ann, 'agent')).toEqual({ graphId: 'agent' })
  expect(await namedAssistant(engine, ann, 'old')).toEqual({ graphId: 'agent' })
  expect(await namedAssistant(engine, ann, '_')).toEqual({ graphId: undefined })
  expect(await namedAssistant(engine, ann, 'unknown')).toEqual({ graphId: 'unknown' })
})
