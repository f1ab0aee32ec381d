import { expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { subscribe } from '../../../src/engine/index.ts'
import { approval } from '../../fixtures/graphs.ts'
import { ALL_CHANNELS } from '../../kit/channels.ts'
import { engineOf, recordOf, start, transcript } from '../../kit/engine.ts'
import { lostInDeletion, type Place, SHARED } from '../../kit/shared.ts'

const A_DAY = 86_400_000

/** An instance that deletes nothing that another one has begun to. */
function instance(place: Place) {
  const engine = engineOf(
    { a: langgraph(approval()) },
    { ...place, leaseTtlMs: A_DAY, sweepMs: A_DAY, onError: () => {} },
  )
  onTestFinished(() => engine.close())
  return engine
}

test.each(Object.entries(SHARED))(
  'over %s: a thread that is being deleted is seen by nobody, and its id is not free yet',
  async (_, make) => {
    const shared = make()
    const engine = instance(shared())
    const metadata = { team: 1 }
    const { runId } = await start(engine, 't', { notes: [] }, { metadata })
    await start(engine, 'other', { notes: [] }, { metadata })
    for (const threadId of ['t', 'other']) await transcript(engine, threadId)
    await instance(lostInDeletion(shared()))
      .deleteThread({ threadId: 't' })
      .catch(() => {})

    const thread = { threadId: 't' }
    expect(await engine.findThread(thread)).toBeUndefined()
    for (const query of [{}, { status: 'interrupted' }, { where: { team: 1 } }] as const) {
      const listed: string[] = []
      for await (const { threadId } of engine.listThreads(query)) listed.push(threadId)
      expect(listed).toEqual(['other'])
      expect(await engine.countThreads(query)).toBe(1)
    }
    expect(await engine.getRun({ ...thread, runId })).toBeUndefined()
    expect(await recordOf(engine, { ...thread, answerId: runId })).toBeUndefined()
    const gone = { code: 'no_such_thread' }
    await expect(engine.listRuns(thread)).rejects.toMatchObject(gone)
    await expect(engine.patchThread({ ...thread, metadata: {} })).rejects.toMatchObject(gone)
    await expect(engine.copyThread({ ...thread, newThreadId: 'copy' })).rejects.toMatchObject(gone)
    await expect(engine.wait({ ...thread, runId })).rejects.toMatchObject({ code: 'no_such_run' })
    const subscription = subscribe(engine, { ...thread, filter: { channels: ALL_CHANNELS } })
    await expect(subscription.ready()).rejects.toMatchObject(gone)

    await expect(start(engine, 't')).rejects.toMatchObject({ code: 'thread_busy' })
    await expect(start(engine, 't', {}, { mustExist: true })).rejects.toMatchObject(gone)
  },
)
