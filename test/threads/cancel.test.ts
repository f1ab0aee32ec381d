import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { Agent } from '../../src/index.ts'
import { approval, threeSteps } from '../fixtures/graphs.ts'
import type { ThreadClient } from '../kit/client.ts'
import { dataOf, isTerminal, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { aborted, gate } from '../kit/wait.ts'
import { inSecondRun } from './second-run.ts'

const cancel = (thread: ThreadClient, run: string, query = '') =>
  thread.request('POST', `/runs/${run}/cancel${query}`)

/** An agent that stops only after `letGo`. */
function reluctant() {
  const { opened: started, open: start } = gate()
  const { opened: told, open: tell } = gate()
  const { opened: gone, open: letGo } = gate()
  const agent: Agent = {
    ...puppet().agent,
    async *stream({ signal }) {
      yield custom('begun')
      start()
      await aborted(signal)
      tell()
      await gone
    },
  }
  return { agent, started, told, letGo }
}

test.each(['', '?wait=0', '?wait=false', '?wait=', '?wait=no'])(
  'cancel%s answers 202 before the agent has stopped',
  async (query) => {
    const { agent, started, told, letGo } = reluctant()
    const host = await serveAgents({ agents: { a: agent } })
    const thread = host.thread()
    const run = await thread.start()
    await started
    expect((await cancel(thread, run, query)).status).toBe(202)
    await told
    expect((await thread.get('')).body.status).toBe('busy')
    letGo()
    expect(rootStates(await thread.transcript())).toEqual(['running', 'interrupted'])
  },
)

test.each(['?wait=1', '?wait=true', '?action=interrupt&wait=1'])(
  'cancel%s answers 204 when the run has ended',
  async (query) => {
    const { agent, started, told, letGo } = reluctant()
    const host = await serveAgents({ agents: { a: agent } })
    const thread = host.thread()
    const run = await thread.start()
    await started
    const stream = await thread.stream()
    const cancelled = cancel(thread, run, query)
    await told
    letGo()
    expect((await cancelled).status).toBe(204)
    expect((await thread.get('')).body.status).toBe('idle')
    await stream.until((events) => events.some(isTerminal))
  },
)

describe('the action', () => {
  test('interrupt keeps what the run has written', async () => {
    const { thread, run } = await inSecondRun()
    await cancel(thread, run, '?wait=1&action=interrupt')
    const { values, next } = (await thread.get('/state')).body
    expect(values.notes).toEqual(['first', 'one', 'two', 'three', 'second', 'one'])
    expect(next).toEqual(['two'])
    await thread.start(null)
    expect((await thread.idle()).values.notes.slice(-3)).toEqual(['one', 'two', 'three'])
  })

  test('rollback restores the state before the run, for reads and for the next run', async () => {
    const { thread, before, run } = await inSecondRun()
    await cancel(thread, run, '?wait=1&action=rollback')
    expect((await thread.get('/state')).body).toEqual(before)
    expect((await thread.post('/history', { limit: 1 })).body).toEqual([before])
    expect((await thread.ok('state.get')).checkpoint.id).toBe(before.checkpoint.checkpoint_id)
    await thread.start({ notes: ['third'] })
    expect((await thread.idle()).values.notes).toEqual([
      'first',
      'one',
      'two',
      'three',
      'third',
      'one',
      'two',
      'three',
    ])
  })

  test('rollback holds against a later interrupt', async () => {
    const { thread, before, run } = await inSecondRun()
    await Promise.all([cancel(thread, run, '?action=rollback'), cancel(thread, run, '?action=interrupt')])
    await cancel(thread, run, '?wait=1')
    expect((await thread.get('/state')).body).toEqual(before)
  })

  test('rollback of an answer asks the question again', async () => {
    const { opened: reached, open: reach } = gate()
    let waits = true
    const agent = langgraph(approval())
    const host = await serveAgents({
      agents: {
        a: {
          ...agent,
          async *stream(task) {
            for await (const event of agent.stream(task)) {
              yield event
              if (waits && task.start.kind === 'resume' && event.method === 'updates') {
                reach()
                await new Promise((_, reject) =>
                  task.signal.addEventListener('abort', () => reject(task.signal.reason)),
                )
              }
            }
          },
        },
      },
    })
    const thread = host.thread()
    await thread.start()
    const [asked] = dataOf(await thread.transcript(), 'input.requested')
    const { run_id } = await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'no' })
    await reached
    await cancel(thread, run_id, '?wait=1&action=rollback')
    waits = false
    expect((await thread.get('')).body.status).toBe('interrupted')
    await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'yes' })
    expect(rootStates(await thread.transcript(3)).at(-1)).toBe('completed')
  })
})

test('a run that has ended stays ended, and can be cancelled again and again', async () => {
  const host = await serveAgents({ agents: { a: langgraph(threeSteps()) } })
  const thread = host.thread()
  const run = await thread.start()
  const before = await thread.idle()
  for (const query of ['', '?wait=1', '?action=rollback&wait=1'])
    expect([202, 204]).toContain((await cancel(thread, run, query)).status)
  expect((await thread.get('/state')).body).toEqual(before)
  expect(rootStates(await thread.transcript())).toEqual(['running', 'completed'])
})

test('a run of another thread is unknown to this one', async () => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent } })
  const run = await host.thread('one').start()
  await host.thread('two').start()
  const { status, body } = await cancel(host.thread('two'), run, '?wait=1')
  expect({ status, body }).toEqual({ status: 404, body: { error: 'not_found', message: expect.any(String) } })
  expect(actor.tasks.every(({ signal }) => !signal.aborted)).toBe(true)
})

test('many cancels at once end the run once', async () => {
  const actor = puppet()
  const host = await serveAgents({ agents: { a: actor.agent } })
  const thread = host.thread()
  const run = await thread.start()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => cancel(thread, run, at % 2 ? '?wait=1' : '')),
  )
  expect(answers.every(({ status }) => status === 202 || status === 204)).toBe(true)
  expect(rootStates(await thread.transcript())).toEqual(['running', 'interrupted'])
})
