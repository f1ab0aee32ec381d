import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ControlPlaneContext } from '../../../src/control-plane/context.ts'
import { type EventPage, mergePages } from '../../../src/control-plane/events/stream.ts'
import { streamEvents } from '../../../src/control-plane/operations/events.ts'
import { STORES } from '../../jobs/runners.ts'
import { eventually } from '../../kit/wait.ts'
import { moveRevision, newDeployment, newRevision, openContext, removeRecord } from '../kit.ts'

interface Received {
  readonly id: string
  readonly event: string
  readonly data: Record<string, unknown>
}

interface Asked {
  readonly query?: Record<string, string>
  readonly lastEventId?: string | undefined
  readonly signal?: AbortSignal
  readonly principal?: { readonly id: string }
}

async function open(context: ControlPlaneContext, deploymentId: string, asked: Asked = {}) {
  const headers = new Headers(asked.lastEventId === undefined ? {} : { 'last-event-id': asked.lastEventId })
  const call = {
    request: new Request('http://host/', { headers }),
    principal: asked.principal ?? null,
    signal: asked.signal,
  }
  const input = { params: { deployment_id: deploymentId }, query: asked.query ?? {}, call }
  return (await streamEvents.run(context, input as never)) as Response
}

/** Reads a stream in the background. */
async function follow(context: ControlPlaneContext, deploymentId: string, asked: Asked = {}) {
  const reader = (await open(context, deploymentId, asked)).body!.getReader()
  const events: Received[] = []
  let text = ''
  const ended = (async (): Promise<unknown> => {
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return 'ended'
        text += new TextDecoder().decode(value)
        const frames = text.split('\n\n')
        text = frames.pop()!
        events.push(...frames.map((frame) => parse(frame.replace(/^(:.*\n)+/, ''))))
      }
    } catch (error) {
      return error
    }
  })()
  // A stream that has failed is not cancelled any more.
  const close = () => reader.cancel().catch(() => {})
  onTestFinished(close)
  const until = (count: number) =>
    eventually(() => events.length >= count, { timeoutMs: 200_000, what: `Event ${count}` })
  return { events, ended, close, until }
}

function parse(frame: string): Received {
  const [, id, event, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(frame)!
  return { id: id!, event: event!, data: JSON.parse(data!) }
}

const said = (events: readonly Received[]) =>
  events.map(({ event, data }) => `${event} ${data.status ?? data.message ?? ''}`.trim())

describe.each(STORES)('events over $name', ({ create }) => {
  test('statuses and lines come in the order of their times, first those that are kept and then live', async () => {
    const stores = await create()
    const { context, logs } = openContext(stores())
    const { store } = context
    const revision = newRevision()
    const { id } = await context.deployments.create(newDeployment(), revision)
    const build = { type: 'build', deploymentId: id, revisionId: revision.id } as const
    const line = (message: string) => ({
      at: Date.now(),
      level: 'INFO' as const,
      message,
      revisionId: revision.id,
    })
    await sleep(2)
    logs.append(build, line('cloning'))
    await logs.flush()
    await sleep(2)
    await moveRevision(store, id, revision.id, 'BUILDING')

    // The reader may be on another instance.
    const reader = await follow(openContext(stores()).context, id)
    await reader.until(4)
    logs.append(build, line('compiling'))
    await logs.flush()
    await reader.until(5)
    await moveRevision(store, id, revision.id, 'DEPLOYING')
    await reader.until(6)
    logs.append({ type: 'deploy', deploymentId: id }, line('listening'))
    await logs.flush()
    await reader.until(7)
    expect(said(reader.events)).toEqual([
      'status READY',
      'status CREATING',
      'build cloning',
      'status BUILDING',
      'build compiling',
      'status DEPLOYING',
      'deploy listening',
    ])
    expect(reader.events[1]!.data).toEqual({
      type: 'revision',
      id: revision.id,
      status: 'CREATING',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      reason: null,
    })
    expect(reader.events[2]!.data).toMatchObject({ level: 'INFO', revision_id: revision.id, run_id: null })

    await removeRecord(store, id)
    expect(await reader.ended).toBe('ended')
    expect(reader.events.at(-1)).toMatchObject({ event: 'deleted', data: { type: 'deployment', id } })
  })

  test('a reader that comes back goes on without a gap or a double, wherever it was', async () => {
    const { context, logs } = openContext((await create())())
    const [one, two] = [newRevision(), newRevision()]
    const { id } = await context.deployments.create(newDeployment(), one)
    for (const revisionId of [one.id, two.id]) {
      if (revisionId === two.id)
        await context.deployments.update(id, (deployment) => ({ deployment, revision: two }))
      for (let i = 0; i < 3; i++) {
        const line = {
          at: Date.now(),
          level: 'INFO' as const,
          message: `line ${i} of ${revisionId}`,
          revisionId,
        }
        logs.append({ type: 'build', deploymentId: id, revisionId }, line)
        logs.append({ type: 'deploy', deploymentId: id }, line)
        await logs.flush()
        await moveRevision(context.store, id, revisionId, 'BUILDING')
      }
    }
    // A reader that was there from the start, with the first revision.
    const whole = await follow(context, id, { query: { revision_id: one.id } })
    await whole.until(10)
    expect(said(whole.events).filter((text) => text.includes(two.id))).toEqual([])
    await whole.close()
    for (const [at, { id: lastEventId }] of whole.events.entries()) {
      const rest = await follow(context, id, { lastEventId })
      // What is left of the first revision, and all of the second one.
      const more = whole.events.slice(at + 1)
      const isOf = ({ data }: Received) => data.id === one.id || data.revision_id === one.id
      await eventually(() => rest.events.filter(isOf).length >= more.length)
      await eventually(() => said(rest.events).filter((text) => text.includes(two.id)).length >= 6)
      expect(rest.events.filter(isOf).map(({ data }) => data)).toEqual(more.map(({ data }) => data))
      await rest.close()
    }
  })
})

test('only what is asked for is sent', async () => {
  const { context, logs } = openContext((await STORES[0]!.create())())
  const revision = newRevision()
  const { id } = await context.deployments.create(newDeployment(), revision)
  const line = { at: 1, level: 'INFO' as const, message: 'line', revisionId: revision.id }
  logs.append({ type: 'build', deploymentId: id, revisionId: revision.id }, line)
  logs.append({ type: 'deploy', deploymentId: id }, line)
  await logs.flush()
  const asked = async (query: Record<string, string>, count: number) => {
    const reader = await follow(context, id, { query })
    await reader.until(count)
    await sleep(20)
    return said(reader.events)
  }
  expect(await asked({ types: 'status' }, 2)).toEqual(['status READY', 'status CREATING'])
  expect(await asked({ types: ' deploy,build' }, 2)).toEqual(['build line', 'deploy line'])
  expect(await asked({ types: 'status', revision_id: revision.id }, 1)).toEqual(['status CREATING'])
  await expect(open(context, id, { query: { types: 'metrics' } })).rejects.toMatchObject({ status: 400 })
})

test('streams of others, unknown revisions and ids that are no cursors are refused', async () => {
  const { context } = openContext((await STORES[0]!.create())())
  const mine = await context.deployments.create(newDeployment('[id]me'), newRevision())
  const theirs = await context.deployments.create(newDeployment('[id]them'), newRevision())
  const me = { principal: { id: 'me' } }
  const unknown = { status: 404 }
  await expect(open(context, theirs.id, me)).rejects.toMatchObject(unknown)
  const revision_id = theirs.latestRevisionId!
  await expect(open(context, mine.id, { ...me, query: { revision_id } })).rejects.toMatchObject(unknown)
  // An id may not lead to the log of somebody else's build.
  await expect(open(context, mine.id, { ...me, lastEventId: `0.0.0.${revision_id}` })).rejects.toMatchObject(
    unknown,
  )
  for (const lastEventId of ['x', '1.2', '1.2.3.x', '-1.0.0.', '1e3.0.0.'])
    await expect(open(context, mine.id, { ...me, lastEventId })).rejects.toMatchObject({ status: 400 })
})

test('streams end with the client, with the server, and leave nothing behind', async () => {
  const store = (await STORES[0]!.create())()
  let watches = 0
  const watched = {
    ...store,
    watch(...args: Parameters<typeof store.watch>) {
      watches++
      const stop = store.watch(...args)
      return () => {
        watches--
        stop()
      }
    },
  }
  const { context, close } = openContext(watched)
  const { id } = await context.deployments.create(newDeployment(), newRevision())
  const gone = new AbortController()
  const [one, two, three] = [
    await follow(context, id),
    await follow(context, id, { signal: gone.signal }),
    await follow(context, id),
  ]
  await Promise.all([one, two, three].map(({ until }) => until(2)))
  expect(watches).toBe(9)
  gone.abort(new Error('gone'))
  expect(await two.ended).toMatchObject({ message: 'gone' })
  await three.close()
  expect(watches).toBe(3)
  close()
  expect(await one.ended).toMatchObject({ message: 'closed' })
  expect(watches).toBe(0)
})

test('a reader that does not read costs no reads', async () => {
  const store = (await STORES[0]!.create())()
  let calls = 0
  const counting = {
    ...store,
    read(...args: Parameters<typeof store.read>) {
      calls++
      return store.read(...args)
    },
  }
  const { context, logs } = openContext(counting)
  const revision = newRevision()
  const { id } = await context.deployments.create(newDeployment(), revision)
  const response = await open(context, id)
  const before = calls
  for (let i = 0; i < 50; i++) {
    const line = { at: i, level: 'INFO' as const, message: 'line', revisionId: revision.id }
    logs.append({ type: 'deploy', deploymentId: id }, line)
    await logs.flush()
  }
  expect(calls).toBe(before)
  await response.body!.cancel()
})

test('pages are merged by time, and not beyond a page that has more', () => {
  const page = (type: EventPage['type'], times: readonly number[], isEnd: boolean): EventPage => ({
    type,
    events: times.map((at, i) => ({ at, position: i + 1, type, data: null })),
    position: times.length,
    isEnd,
  })
  const merged = (...pages: EventPage[]) => mergePages(pages).map(({ type, at }) => `${type} ${at}`)
  expect(merged(page('status', [1, 5], true), page('build', [2, 3], true))).toEqual([
    'status 1',
    'build 2',
    'build 3',
    'status 5',
  ])
  expect(merged(page('status', [1, 5], true), page('build', [2, 3], false))).toEqual([
    'status 1',
    'build 2',
    'build 3',
  ])
  expect(merged(page('status', [], false), page('build', [2], true))).toEqual([])
  expect(merged(page('status', [3], true), page('build', [3], true))).toEqual(['status 3', 'build 3'])
})
