import { SpanStatusCode } from '@opentelemetry/api'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Agent,
  createAgentEngine,
  memoryCheckpointer,
  memoryStore,
  type Store,
  UnavailableError,
} from '../../src/index.ts'
import { createRunSpans } from '../../src/ops/opentelemetry/spans.ts'
import { CALLER_ID, gate, type Recorder, recorder, TRACE_ID, TRACEPARENT } from './telemetry.ts'

const LEASE_MS = 200

/** Instances over one store. A killed one reaches the store no more. */
function cluster() {
  const shared = memoryStore()
  const checkpointer = memoryCheckpointer()
  return (agent: Agent, { observe }: Recorder) => {
    let dead = false
    const store: Store = new Proxy(shared, {
      get(target, key: keyof Store) {
        if (key === 'capabilities') return { ...target.capabilities, shared: true }
        const member = target[key] as unknown
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          if (dead) throw new UnavailableError('The network is gone.', { written: 'no' })
          return (member as (...args: unknown[]) => unknown).apply(target, args)
        }
      },
    })
    const engine = createAgentEngine({
      agents: { a: agent },
      store,
      checkpointer,
      leaseTtlMs: LEASE_MS,
      cancelGraceMs: 5,
      observe,
      onError: () => {},
    })
    onTestFinished(() => engine.close())
    const kill = () => {
      dead = true
    }
    return { engine, kill }
  }
}

/** Works until it is stopped, or not at all. */
function worker(works: boolean, resumable = true) {
  const { opened: atWork, open } = gate()
  const agent: Agent = {
    resumable,
    async *stream({ signal }) {
      open()
      if (works) await new Promise((_, reject) => signal.addEventListener('abort', reject))
    },
    getState: async () => undefined,
    async *getHistory() {},
    updateState: async () => ({ checkpointId: 'none' }),
  }
  return { agent, atWork }
}

const request = { threadId: 't', assistantId: 'a', input: {}, traceparent: TRACEPARENT }

test('a run that another process takes over has a span there, in the trace of its request and linked to it', async () => {
  const [here, there] = [recorder(), recorder()]
  const join = cluster()
  const first = worker(true)
  const a = join(first.agent, here)
  const { runId } = await a.engine.start(request)
  await first.atWork
  const b = join(worker(false).agent, there)
  a.kill()
  await there.seen('run.ended')
  const [span, ...others] = there.spans()
  expect(others).toEqual([])
  expect(span).toMatchObject({
    parentSpanContext: { traceId: TRACE_ID, spanId: CALLER_ID },
    links: [{ context: { traceId: TRACE_ID, spanId: CALLER_ID } }],
    attributes: { 'agentwire.run.id': runId, 'agentwire.run.attempt': 2, 'agentwire.run.status': 'success' },
  })
  expect((await there.collect()).get('agentwire.runs.taken_over')).toEqual([
    { attributes: { 'gen_ai.agent.name': 'a' }, value: 1 },
  ])
  await b.engine.close()
})

test('where the span of the earlier attempt is known it ends, and the next one links to it', async () => {
  const both = recorder()
  const join = cluster()
  const first = worker(true)
  const a = join(first.agent, both)
  await a.engine.start(request)
  await first.atWork
  join(worker(false).agent, both)
  a.kill()
  await both.seen('run.ended')
  const [earlier, later, ...others] = both.spans()
  expect(others).toEqual([])
  expect(earlier!.attributes).toMatchObject({
    'agentwire.run.attempt': 1,
    'agentwire.run.attempt.end': 'taken_over',
  })
  expect(earlier!.attributes).not.toHaveProperty('agentwire.run.status')
  expect(later!.links.map(({ context }) => context.spanId)).toEqual([earlier!.spanContext().spanId])
  expect(later!.parentSpanContext?.spanId).toBe(CALLER_ID)
})

test('a run that was lost with its process has a span where that is found out, from its start on', async () => {
  const [here, there] = [recorder(), recorder()]
  const join = cluster()
  const first = worker(true, false)
  const a = join(first.agent, here)
  await a.engine.start(request)
  await first.atWork
  join(worker(false, false).agent, there)
  a.kill()
  await there.seen('run.ended')
  const [span] = there.spans()
  expect(span).toMatchObject({
    parentSpanContext: { traceId: TRACE_ID, spanId: CALLER_ID },
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'error.type': 'lost', 'agentwire.run.status': 'error', 'agentwire.run.reason': 'lost' },
  })
  const [seconds, nanos] = span!.duration
  expect(seconds * 1_000 + nanos / 1e6).toBeGreaterThan(LEASE_MS / 2)
})

test('a run that is handed over ends its span here without a status, and has the next one there', async () => {
  const [here, there] = [recorder(), recorder()]
  const join = cluster()
  const first = worker(true)
  const a = join(first.agent, here)
  await a.engine.start(request)
  await first.atWork
  join(worker(false).agent, there)
  await a.engine.close()
  await there.seen('run.ended')
  expect(here.spans().map(({ attributes }) => attributes)).toMatchObject([
    { 'agentwire.run.attempt': 1, 'agentwire.run.attempt.end': 'handed_over' },
  ])
  expect(here.spans()[0]!.attributes).not.toHaveProperty('agentwire.run.status')
  expect(there.spans().map(({ attributes }) => attributes)).toMatchObject([
    { 'agentwire.run.attempt': 2, 'agentwire.run.reason': 'completed' },
  ])
})

test('of spans whose end never comes the oldest is ended when there are too many', () => {
  const { spans, tracer } = recorder()
  const record = createRunSpans(tracer, 2)
  const about = { threadId: 't', assistantId: 'a', owner: null, at: Date.now(), traceparent: null }
  for (const runId of ['1', '2', '3']) record({ ...about, runId, type: 'run.started', waitedMs: 0 })
  expect(spans().map(({ attributes }) => attributes)).toMatchObject([
    { 'agentwire.run.id': '1', 'agentwire.run.attempt.end': 'forgotten' },
  ])
})
