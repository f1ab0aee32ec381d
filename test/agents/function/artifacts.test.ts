import { expect, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { defineAgent, type Writer } from '../../../src/agents/function/define-agent.ts'
import type { ContentBlock } from '../../../src/messages/index.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { artifactsIn, artifactsOf, payloads } from '../artifacts.ts'
import { answers, ask, input, newThread, outline, run, stateOf, type Thread, taskOf } from '../run.ts'

const image: ContentBlock = { type: 'image', base64: 'AAAA', mimeType: 'image/png' }

const agentOf = (perform: (writer: Writer) => Promise<unknown>): Agent =>
  defineAgent({
    async run(context) {
      await perform(context)
    },
  })

const keptIn = async (agent: Agent, thread: Thread) =>
  artifactsIn((await stateOf(agent, thread)).values.artifacts)

const questionsIn = (events: readonly AgentEvent[]) =>
  events.flatMap(({ method, data }) =>
    method === 'input.requested' ? [(data as { interrupt_id: string }).interrupt_id] : [],
  )

test('a streamed artifact is sent in pieces, and kept whole in the state', async () => {
  const agent = agentOf(async ({ artifact }) => {
    const report = artifact({ id: 'r', name: 'Report', description: 'All of it.', metadata: { pages: 2 } })
    expect(report.id).toBe('r')
    await report.text('One, ')
    await report.text('')
    await report.text('two.')
    await report.block(image)
    await report.text('Three.')
    await report.block({ type: 'text', text: 'Four.' })
    await report.text('Five.')
    await report.data({ sum: 5, when: new Date(0) })
    await report.end()
    await report.end()
  })
  const thread = newThread()
  const events = await run(agent, thread, ask, { runId: 'run' })
  const about = { name: 'Report', description: 'All of it.', metadata: { pages: 2 } }
  const text = (words: string, append?: true) => ({
    block: { type: 'text', text: words },
    ...(append && { append }),
  })
  const wireImage = { type: 'image', data: 'AAAA', mime_type: 'image/png' }
  const data = { type: 'data', data: { sum: 5, when: '1970-01-01T00:00:00.000Z' } }
  expect(payloads(events)).toEqual([
    { event: 'artifact-start', id: 'r', ...about },
    ...[
      text('One, '),
      text('two.', true),
      { block: wireImage },
      text('Three.'),
      text('Four.'),
      text('Five.'),
      { block: data },
    ].map((delta) => ({ event: 'artifact-delta', id: 'r', ...delta })),
    { event: 'artifact-finish', id: 'r' },
  ])
  const content = [
    text('One, two.').block,
    wireImage,
    ...['Three.', 'Four.', 'Five.'].map((words) => text(words).block),
    data,
  ]
  const { values } = await stateOf(agent, thread)
  expect(values.artifacts).toEqual([{ id: 'r', run_id: 'run', ...about, content }])
})

test('an artifact is written by one call, and the state of its end is sent to clients', async () => {
  const thread = newThread()
  const agent = agentOf(async ({ artifact, state }) => {
    await artifact('Text.')
    await artifact(image, { name: 'Image' })
    await artifact([
      { type: 'text', text: 'A' },
      { type: 'text', text: 'B' },
    ])
    expect(state).not.toHaveProperty('artifacts')
  })
  const events = await run(agent, thread, ask)
  const kept = await keptIn(agent, thread)
  expect(kept.map(({ id: _, ...artifact }) => artifact)).toEqual([
    { content: [{ type: 'text', text: 'Text.' }] },
    { name: 'Image', content: [{ type: 'image', data: 'AAAA', mime_type: 'image/png' }] },
    {
      content: [
        { type: 'text', text: 'A' },
        { type: 'text', text: 'B' },
      ],
    },
  ])
  expect(new Set(kept.map(({ id }) => id)).size).toBe(3)
  expect(artifactsOf(events)).toEqual(kept)
  const shown = events.findLast(({ method }) => method === 'values')!.data as { artifacts: unknown }
  expect(artifactsIn(shown.artifacts)).toEqual(kept)
  expect(outline(events).filter((line) => line.startsWith('messages'))).toEqual([])
})

test('an artifact replaces the one with its id, also that of an earlier run', async () => {
  const agent = agentOf(async ({ artifact, messages }) => {
    await artifact(`Version ${messages.length}.0`, { id: 'doc' })
    await artifact(`Version ${messages.length}.1`, { id: 'doc' })
    await artifact('Another.', { id: `note ${messages.length}` })
  })
  const thread = newThread()
  await run(agent, thread, input({ messages: ['one'] }), { runId: 'first' })
  await run(agent, thread, input({ messages: ['two'] }), { runId: 'second' })
  const { values } = await stateOf(agent, thread)
  const artifact = (id: string, run_id: string, text: string) => ({
    id,
    run_id,
    content: [{ type: 'text', text }],
  })
  expect(values.artifacts).toEqual([
    artifact('doc', 'second', 'Version 2.1'),
    artifact('note 1', 'first', 'Another.'),
    artifact('note 2', 'second', 'Another.'),
  ])
})

test('an artifact takes the place of a state key that is no list', async () => {
  const thread = newThread()
  const agent = agentOf(({ artifact }) => artifact('Text.', { id: 'a' }))
  await run(agent, thread, input({ artifacts: 'none' }))
  expect(await keptIn(agent, thread)).toEqual([{ id: 'a', content: [{ type: 'text', text: 'Text.' }] }])
})

test('an artifact that is open when the function returns is ended, and one without content has an empty text', async () => {
  const thread = newThread()
  const agent = agentOf(async ({ artifact }) => {
    void artifact({ id: 'open' }).text('Almost ')
    artifact({ id: 'empty' })
  })
  const events = await run(agent, thread, ask)
  const kept = await keptIn(agent, thread)
  expect(kept).toEqual([
    { id: 'open', content: [{ type: 'text', text: 'Almost ' }] },
    { id: 'empty', content: [{ type: 'text', text: '' }] },
  ])
  expect(artifactsOf(events)).toEqual(kept)
})

test('an artifact of a function that fails or is cancelled is not kept half, and those before it are', async () => {
  for (const end of ['fail', 'cancel'] as const) {
    const thread = newThread()
    const stop = new AbortController()
    let save: (() => Promise<unknown>) | undefined
    const agent = agentOf(async ({ artifact }) => {
      void artifact('Whole.', { id: 'whole' })
      const half = artifact({ id: 'half' })
      await half.text('Half')
      if (end === 'fail') throw new Error('broken')
      stop.abort('cancelled')
      await half.end()
    })
    const attempt = run(agent, thread, ask, { signal: stop.signal, onStop: (work) => (save = work) })
    await expect(attempt).rejects.toBeDefined()
    if (end === 'cancel') await save!()
    expect((await keptIn(agent, thread)).map(({ id }) => id)).toEqual(['whole'])
  }
})

test('writing to an ended artifact, and what is no content block, are mistakes that change nothing', async () => {
  const thread = newThread()
  const agent = agentOf(async ({ artifact }) => {
    const one = artifact({ id: 'one' })
    expect(() => one.block({ type: 'image', mime: 'x' } as never)).toThrow('content blocks')
    await one.text('Text.')
    await one.end()
    expect(() => one.text('more')).toThrow(TypeError)
    expect(() => one.data(1)).toThrow('The artifact has ended. Start a new one.')
    await expect(artifact([image, 'text'] as never, { id: 'two' })).rejects.toThrow(TypeError)
  })
  const events = await run(agent, thread, ask)
  expect((await keptIn(agent, thread)).map(({ id }) => id)).toEqual(['one'])
  expect(payloads(events).filter(({ id }) => id === 'two')).toEqual([])
})

test('nothing of an artifact is sent while the function waits for an answer', async () => {
  const thread = newThread()
  const refused: unknown[] = []
  const agent = agentOf(async ({ artifact, interrupt }) => {
    const early = artifact({ id: 'early' })
    await interrupt('Go on?').catch((error) => refused.push(error))
    const late = artifact({ id: 'late' })
    for (const write of [early.text('a'), late.text('b'), late.end(), artifact('c')])
      await write.catch((error) => refused.push(error))
  })
  const events = await run(agent, thread, ask)
  expect(refused).toHaveLength(5)
  expect(payloads(events)).toEqual([{ event: 'artifact-start', id: 'early' }])
  expect((await stateOf(agent, thread)).values).not.toHaveProperty('artifacts')
})

/** It asks before, inside of and after its artifacts. */
const asking = agentOf(async ({ artifact, interrupt, subagent }) => {
  await artifact(`Plan for ${await interrupt('Who?')}.`, { id: 'plan' })
  const report = artifact({ name: 'Report' })
  await report.text('It was ')
  await report.text(`${await interrupt('How?')}.`)
  await report.end()
  await subagent('helper', 'help', async ({ artifact: make, interrupt: askInside }) => {
    await make('Inner.', { id: 'inner' })
    await askInside('Enough?')
  })
  await artifact({ type: 'text', text: 'Last.' }, { id: 'last' })
  await interrupt('Done?')
})

test('a function that runs again after an answer neither repeats nor loses an artifact', async () => {
  const thread = newThread()
  const events = [...(await run(asking, thread, ask, { runId: 'run 0' }))]
  for (let at = 1, open = questionsIn(events); open.length > 0; at++) {
    const more = await run(asking, thread, answers({ [open[0]!]: `answer ${at}` }), { runId: `run ${at}` })
    events.push(...more)
    open = questionsIn(more)
  }
  const kept = (await stateOf(asking, thread)).values.artifacts as readonly { run_id: string }[]
  expect(artifactsIn(kept)).toEqual([
    { id: 'plan', content: [{ type: 'text', text: 'Plan for answer 1.' }] },
    { id: expect.any(String), name: 'Report', content: [{ type: 'text', text: 'It was answer 2.' }] },
    { id: 'last', content: [{ type: 'text', text: 'Last.' }] },
  ])
  expect(kept.map(({ run_id }) => run_id)).toEqual(['run 1', 'run 2', 'run 3'])
  expect(artifactsOf(events)).toEqual(artifactsIn(kept))
  const finished = payloads(events).filter(({ event }) => event === 'artifact-finish')
  expect(finished).toHaveLength(4)
  const inner = events.find(({ namespace, method }) => method === 'custom' && namespace.length > 0)!.namespace
  const state = await asking.getState({ ...thread, checkpointNs: inner.join('|') })
  expect(artifactsIn(state!.values.artifacts).map(({ id }) => id)).toEqual(['inner'])
})

test('a function that is lost at any event writes a half artifact again from its start, with its id', async () => {
  const perform = agentOf(async ({ artifact, message, tool, step }) => {
    await message('First.')
    const report = artifact()
    for (const word of ['a ', 'b ', 'c']) await report.text(word)
    await report.end()
    await tool('look', {}, () => 1)
    await step(async ({ artifact: make, setState }) => {
      await make('In a step.')
      await setState({ written: true })
      await make('And another.')
    })
    await artifact([image, { type: 'text', text: 'End.' }], { id: 'end' })
  })
  const agent: Agent = { ...perform, resumable: true }
  const whole = await run(agent, newThread(), ask)
  const contents = artifactsOf(whole).map(({ content }) => content)
  expect(contents).toHaveLength(4)
  for (let at = 2; at < whole.length; at++) {
    const thread = newThread()
    const events: AgentEvent[] = []
    for await (const event of agent.stream(taskOf(thread, ask))) if (events.push(event) > at) break
    events.push(...(await run(agent, thread, input(null))))
    const kept = await keptIn(agent, thread)
    expect(kept.map(({ content }) => content)).toEqual(contents)
    expect(artifactsOf(events)).toEqual(kept)
  }
})

test('a function sees at every position the artifacts that it saw there before', async () => {
  const seen: number[][] = []
  const agent = agentOf(async (context) => {
    const counts: number[] = []
    seen.push(counts)
    const look = () => counts.push(((context.state.artifacts ?? []) as readonly unknown[]).length)
    look()
    await context.artifact('One.')
    look()
    await Promise.all([context.artifact('Two.'), context.artifact('Three.')])
    look()
    await context.interrupt('Go on?')
    await context.artifact('Four.', { id: 'four' })
    look()
    await context.interrupt('Really?')
  })
  const thread = newThread()
  let events = await run(agent, thread, ask)
  for (const _ of [1, 2]) events = await run(agent, thread, answers({ [questionsIn(events)[0]!]: 'yes' }))
  expect(seen).toEqual([
    [0, 1, 3],
    [0, 1, 3, 4],
    [0, 1, 3, 4],
  ])
})

test('a call that was an artifact and is now a message makes the replay fail', async () => {
  let attempts = 0
  const agent = agentOf(async ({ artifact, message, interrupt }) => {
    if (attempts++ === 0) await artifact('One.')
    else await message('One.')
    await interrupt('Go on?')
  })
  const thread = newThread()
  const [question] = questionsIn(await run(agent, thread, ask))
  await expect(run(agent, thread, answers({ [question!]: 'yes' }))).rejects.toMatchObject({
    code: 'nondeterministic_replay',
  })
})

test('the journal of a run grows with its artifacts, and does not repeat the list with each', async () => {
  const text = 'x'.repeat(1_000)
  const agent = agentOf(async ({ artifact, interrupt }) => {
    for (let n = 0; n < 60; n++) await artifact(text)
    await interrupt('Go on?')
  })
  const thread = newThread()
  await run(agent, thread, ask)
  const tuple = await thread.checkpointer.getTuple({
    configurable: { thread_id: thread.threadId, checkpoint_ns: '' },
  })
  expect(JSON.stringify(tuple!.checkpoint.channel_values).length).toBeLessThan(3 * 60 * (text.length + 300))
})
