import { Annotation, StateGraph } from '@langchain/langgraph'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { langgraph } from '../../src/agents/langgraph.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../src/storage/memory-checkpointer.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { custom, engineOf, isTerminal, puppet, rootStates, start, transcript } from './support.ts'

const LEASE_MS = 200

/** Instances over one store. A killed one reaches the store no more. */
function cluster() {
  const shared = memoryStore()
  const checkpointer = memoryCheckpointer()
  return (agent: Agent) => {
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
    const engine = engineOf(
      { a: agent },
      { store, checkpointer, leaseTtlMs: LEASE_MS, cancelGraceMs: 5, onError: () => {} },
    )
    onTestFinished(() => engine.close())
    const kill = () => {
      dead = true
    }
    return { engine, kill }
  }
}

test('a run whose process is lost ends in exactly one failed event that a person understands', async () => {
  const actors = { a: puppet(), b: puppet() }
  const join = cluster()
  const a = join(actors.a.agent)
  const b = join(actors.b.agent)
  await start(a.engine, 't')
  actors.a.emit(custom('before'))
  const queued = await start(b.engine, 't')
  a.kill()
  actors.b.finish()
  const events = await transcript(b.engine, 't', 2)
  expect(rootStates(events)).toEqual(['running', 'failed', 'running', 'completed'])
  expect(events.find(isTerminal)?.params.data.error).toContain('was lost')
  expect(actors.b.tasks.map(({ runId }) => runId)).toEqual([queued.runId])
  actors.a.emit(custom('zombie'))
  actors.a.finish()
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect((await b.engine.findThread('t', null))?.status).toBe('idle')
  expect(await b.engine.head('t')).toBe(events.length)
})

test('a resumable run goes on in another process from its last checkpoint, under its own id', async () => {
  let firstAtWork = () => {}
  const atWork = new Promise<void>((resolve) => {
    firstAtWork = resolve
  })
  const calls: string[] = []
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (x, y) => x.concat(y), default: () => [] }),
  })
  const graphOf = (name: 'a' | 'b') =>
    new StateGraph(State)
      .addNode('first', () => {
        calls.push(`first on ${name}`)
        return { log: ['first'] }
      })
      .addNode('second', async (_state, config) => {
        calls.push(`second on ${name}`)
        if (name === 'b') return { log: ['second'] }
        firstAtWork()
        return new Promise<never>((_, reject) => {
          config.signal?.addEventListener('abort', () => reject(new Error('aborted')))
        })
      })
      .addEdge('__start__', 'first')
      .addEdge('first', 'second')
      .compile()
  const join = cluster()
  const a = join(langgraph(graphOf('a')))
  const b = join(langgraph(graphOf('b')))
  const { runId } = await start(a.engine, 't', { log: ['input'] })
  await atWork
  a.kill()
  const events = await transcript(b.engine, 't')
  expect(rootStates(events)).toEqual(['running', 'completed'])
  expect(events.at(-1)?.params.data.run_id).toBe(runId)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  expect(calls.at(-1)).toBe('second on b')
  expect(calls).not.toContain('first on b')
  const thread = await b.engine.findThread('t', null)
  expect((await b.engine.readState(thread!))?.values.log).toEqual(['input', 'first', 'second'])
})

test('a cancel on one instance stops a run on another', async () => {
  const actors = { a: puppet(), b: puppet() }
  const join = cluster()
  const a = join(actors.a.agent)
  const b = join(actors.b.agent)
  const { runId } = await start(a.engine, 't')
  await b.engine.cancel('t', runId, 'interrupt')
  expect(rootStates(await transcript(b.engine, 't'))).toEqual(['running', 'interrupted'])
})

test('a run that no process survives is given up after three attempts', async () => {
  const join = cluster()
  const attempts: (() => void)[] = []
  const deadly: Agent = {
    ...puppet().agent,
    resumable: true,
    async *stream(task) {
      attempts.shift()?.()
      yield custom('begun')
      await new Promise((_, reject) => task.signal.addEventListener('abort', reject))
    },
  }
  const begun = () =>
    new Promise<void>((resolve) => {
      attempts.push(resolve)
    })
  for (let i = 0; i < 3; i++) {
    const attempt = begun()
    const { engine, kill } = join(deadly)
    if (i === 0) await start(engine, 't')
    await attempt
    kill()
  }
  const last = join(deadly)
  const events = await transcript(last.engine, 't')
  expect(rootStates(events)).toEqual(['running', 'failed'])
})
