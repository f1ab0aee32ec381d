import { describe, expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import type { AgentEngine } from '../../src/engine/index.ts'
import { artifactsIn, artifactsOf, payloads } from '../agents/artifacts.ts'
import { threadClient } from '../kit/client.ts'
import { DATABASES } from '../kit/databases.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { isTerminal, type WireEvent } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { killable, type Place } from '../kit/shared.ts'
import { gate } from '../kit/wait.ts'

const sent = (events: readonly WireEvent[]) =>
  events.map(({ method, params: { namespace, data } }) => ({ method: method as 'custom', namespace, data }))

const stateOf = async (engine: AgentEngine) =>
  (await engine.readState((await engine.findThread({ threadId: 't' }))!))!.values

describe.each(Object.entries(DATABASES))('over %s', (_, create) => {
  function instance(agent: ReturnType<typeof defineAgent>, place: Place): AgentEngine {
    const engine = engineOf(
      { a: agent },
      {
        ...place,
        leaseTtlMs: 400,
        sweepMs: 100,
        onError: () => {},
      },
    )
    onTestFinished(() => engine.close())
    return engine
  }

  test('a run that is taken over in the middle of an artifact writes it again from its start', async () => {
    const open = await create()
    const { opened: halfWritten, open: wrote } = gate()
    let attempts = 0
    const agent = defineAgent({
      resumable: true,
      async run({ artifact }) {
        const isFirst = attempts++ === 0
        await artifact('Whole.', { id: 'before' })
        const report = artifact({ name: 'Report' })
        await report.text('Half ')
        await report.text('and ')
        if (isFirst) {
          wrote()
          await new Promise(() => {})
        }
        await report.text('whole.')
        await report.data({ attempts })
        await report.end()
      },
    })
    const doomed = killable(await open())
    const first = instance(agent, doomed.place)
    const { runId } = await start(first, 't')
    await halfWritten
    // The pieces are in the log before the process is lost.
    for await (const event of first.events({ threadId: 't', runId }))
      if (JSON.stringify(event).includes('and ')) break
    doomed.kill()
    const heir = instance(agent, await open())
    expect(await heir.wait({ threadId: 't', runId })).toMatchObject({ status: 'success' })
    const events = sent(await transcript(heir, 't'))
    const kept = (await stateOf(heir)).artifacts as readonly { run_id: string }[]
    expect(artifactsIn(kept).map(({ id: __, ...artifact }) => artifact)).toEqual([
      { content: [{ type: 'text', text: 'Whole.' }] },
      {
        name: 'Report',
        content: [
          { type: 'text', text: 'Half and whole.' },
          { type: 'data', data: { attempts: 2 } },
        ],
      },
    ])
    expect(kept.map(({ run_id }) => run_id)).toEqual([runId, runId])
    expect(artifactsOf(events)).toEqual(artifactsIn(kept))
    const report = artifactsIn(kept)[1]!.id
    const ofReport = payloads(events).filter(({ id }) => id === report)
    expect(ofReport.filter(({ event }) => event === 'artifact-start')).toHaveLength(2)
    expect(ofReport.filter(({ event }) => event === 'artifact-finish')).toHaveLength(1)
  })

  test('a function that another instance runs again after an answer keeps its artifacts as they were', async () => {
    const open = await create()
    const agent = defineAgent({
      async run({ artifact, interrupt, run }) {
        await artifact(`By ${run.id}`, { id: 'one', metadata: { é: [null, 1.5] } })
        const report = artifact({ id: 'two' })
        await report.text('Answer: ')
        await report.text(await interrupt<string>('Which?'))
        await report.end()
        await interrupt('Done?')
      },
    })
    const engines = [instance(agent, await open()), instance(agent, await open())] as const
    let run = await start(engines[0], 't')
    const first = run.runId
    for (const engine of [engines[1], engines[0]]) {
      const [question] = (await engine.wait({ threadId: 't', ...run })).interrupts
      run = await engine.respond({ threadId: 't', answers: { [question!.id]: 'ü' } })
    }
    expect(await engines[1].wait({ threadId: 't', ...run })).toMatchObject({ status: 'success' })
    const artifacts = artifactsIn((await stateOf(engines[1])).artifacts)
    expect(artifacts).toEqual([
      { id: 'one', metadata: { é: [null, 1.5] }, content: [{ type: 'text', text: `By ${first}` }] },
      { id: 'two', content: [{ type: 'text', text: 'Answer: ü' }] },
    ])
    const events = sent(await transcript(engines[0], 't', 3))
    expect(artifactsOf(events)).toEqual(artifacts)
    expect(payloads(events).filter(({ event }) => event === 'artifact-finish')).toHaveLength(2)
  })
})

test('clients of the threads protocol get artifacts on their channel, in values and in the state', async () => {
  const agent = defineAgent({
    async run({ artifact, custom }) {
      await custom('other', 1)
      await artifact('Text.', { id: 'a', name: 'Report' })
    },
  })
  const { origin } = await serveAgents({ agents: { a: agent } })
  const thread = threadClient(origin, crypto.randomUUID(), {})
  await thread.start()
  const own = await thread.stream({ channels: ['custom:artifact', 'lifecycle'], since: 0 })
  const events = await own.until((seen) => seen.some(isTerminal))
  expect(events.filter(({ method }) => method === 'custom').map(({ params }) => params.data)).toEqual([
    { name: 'artifact', payload: { event: 'artifact-start', id: 'a', name: 'Report' } },
    {
      name: 'artifact',
      payload: { event: 'artifact-delta', id: 'a', block: { type: 'text', text: 'Text.' } },
    },
    { name: 'artifact', payload: { event: 'artifact-finish', id: 'a' } },
  ])
  own.close()
  const kept = [
    { id: 'a', run_id: expect.any(String), name: 'Report', content: [{ type: 'text', text: 'Text.' }] },
  ]
  const values = (await thread.transcript()).filter(({ method }) => method === 'values').at(-1)!
  expect(values.params.data.artifacts).toEqual(kept)
  expect((await thread.get('/state')).body.values.artifacts).toEqual(kept)
})
