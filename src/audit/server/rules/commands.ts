import { equal, hold } from '../../check.ts'
import { at, checkpointOf, isRoot, messagesOf } from '../events.ts'
import {
  type Checks,
  mentions,
  protocol,
  rules,
  rulesOf,
  SCHEMA,
  STREAM_CLIENT,
  THREAD_CLIENT,
} from '../rule.ts'

const { must, should } = rules(protocol('top-level-framing'))

const MALFORMED = [
  '',
  '{"id":1,',
  '7',
  'null',
  '[]',
  '{"method":"run.start"}',
  '{"id":1}',
  '{"id":1,"method":7}',
]

const RULES = {
  'commands.run-start.returns-run-id': must('run.start succeeds and returns a run_id'),
  'commands.id.echoed': must('A response has the id of its command'),
  'commands.id.text': should('A command id may be a string', STREAM_CLIENT),
  'commands.meta.given': should(
    'The response to run.start has the thread_id and applied_through_seq in meta',
  ),
  'commands.meta.not-ahead': must(
    "applied_through_seq, if present, precedes the run's first event",
    STREAM_CLIENT,
  ),
  'commands.unknown': must('An unknown command is rejected with unknown_command and status 200'),
  'commands.malformed': must('A body that is not a command is rejected with status 400'),
  'commands.malformed.envelope': should(
    'The response to a malformed command is a protocol error with a null id',
    SCHEMA,
  ),
  'commands.refused.no-thread': must(
    'A rejected command does not create a thread',
    protocol('threads-runs-and-input'),
  ),
  'commands.run-start.unknown-assistant': must(
    'An unknown assistant is rejected with invalid_argument',
    SCHEMA,
  ),
  'commands.run-start.state-at-once': must(
    'When run.start has returned, the thread has a state whose values is an object',
    STREAM_CLIENT,
  ),
  'commands.run-start.unknown-checkpoint': should(
    'A run from a checkpoint that does not exist is rejected with no_such_checkpoint',
    SCHEMA,
  ),
  'commands.state-get': should(
    'state.get returns the values and the checkpoint of the state',
    protocol('state-and-checkpoints'),
  ),
  'commands.state-get.parts': should(
    'state.get returns only the requested keys, and rejects an unknown namespace',
    SCHEMA,
  ),
  'commands.list-checkpoints': should(
    'state.listCheckpoints returns checkpoints newest first, in pages',
    protocol('state-and-checkpoints'),
  ),
  'commands.get-tree': should('agent.getTree returns the root namespace and the status of its run', SCHEMA),
  'commands.fork': should('state.fork starts a run from an earlier checkpoint', THREAD_CLIENT),
  'commands.inject': should('input.inject adds a message to the state of an idle thread', SCHEMA),
  'commands.no-thread': should(
    'A command for a thread that does not exist is rejected with no_such_run',
    SCHEMA,
  ),
  'commands.camel-case': should('Params are also accepted in camelCase, as the specification spells them'),
  'commands.run-start.bound': should(
    'A thread is bound to the assistant of its first run',
    STREAM_CLIENT,
    'tools',
  ),
}

const checks: Checks<keyof typeof RULES> = {
  async 'commands.run-start.returns-run-id'({ thread }) {
    await thread().start()
  },
  async 'commands.id.echoed'({ thread, request, assistantId, input }) {
    for (const id of [0, 7, 2 ** 31]) {
      const body = { id, method: 'run.start', params: { assistant_id: assistantId, input: input('Hello') } }
      const answer = await request('POST', `/threads/${thread().id}/commands`, { body })
      equal('the status', answer.status, 200)
      equal('the id', at(answer.body, 'id'), id)
    }
  },
  async 'commands.id.text'({ thread }) {
    const sent = { body: { id: 'mine', method: 'no.such.command', params: {} } }
    equal('the id', at((await thread().request('POST', '/commands', sent)).body, 'id'), 'mine')
  },
  async 'commands.meta.given'({ thread }) {
    const one = thread()
    const answer = await one.command('run.start')
    equal('meta.thread_id', at(answer, 'meta', 'thread_id'), one.id)
    const applied = at(answer, 'meta', 'applied_through_seq')
    hold('meta.applied_through_seq', Number.isSafeInteger(applied), 'a whole number', applied)
  },
  async 'commands.meta.not-ahead'({ thread }) {
    const one = thread()
    const { stream } = await one.run()
    const applied = at(await one.command('run.start'), 'meta', 'applied_through_seq')
    const events = await stream.until('the start of the second run', (seen) => seen.filter(isRoot).length > 2)
    const first = events.filter(isRoot)[2]!
    if (applied !== undefined)
      hold('applied_through_seq', Number(applied) < first.seq, `less than ${first.seq}`, applied)
  },
  async 'commands.unknown'({ thread }) {
    const one = thread()
    await one.run()
    for (const method of ['no.such.command', 'RUN.START', '__proto__'])
      await one.refused(['unknown_command'], method, {})
  },
  async 'commands.malformed'({ thread }) {
    for (const body of MALFORMED) {
      const status = await thread().status('POST', '/commands', { body })
      equal(`the status of ${body || 'an empty body'}`, status, 400)
    }
  },
  async 'commands.malformed.envelope'({ thread }) {
    for (const body of ['{"id":1,', '[]', '{"method":"run.start"}']) {
      const { body: answer } = await thread().request('POST', '/commands', { body })
      const seen = ['type', 'id', 'error'].map((key) => at(answer, key))
      equal(`type, id and error of the answer to ${body}`, seen, ['error', null, 'invalid_argument'])
    }
  },
  async 'commands.refused.no-thread'({ thread }) {
    const one = thread()
    await one.command('no.such.command', {})
    await one.refused(['invalid_argument'], 'run.start', { assistant_id: 7 })
    equal('the status of the state', await one.status('GET', '/state'), 404)
  },
  async 'commands.run-start.unknown-assistant'({ thread }) {
    await thread().refused(['invalid_argument'], 'run.start', { assistant_id: 'no-such-assistant' })
  },
  async 'commands.run-start.state-at-once'({ thread }) {
    const one = thread()
    await one.start()
    const values = at(await one.state(), 'values')
    hold('values', typeof values === 'object' && values !== null, 'an object', values)
  },
  async 'commands.run-start.unknown-checkpoint'({ thread }) {
    const one = thread()
    await one.run()
    const config = { configurable: { checkpoint_id: '1ef00000-0000-6000-8000-000000000000' } }
    await one.refused(['no_such_checkpoint'], 'run.start', { config })
  },
  async 'commands.state-get'({ thread }) {
    const one = thread()
    const { state } = await one.finish()
    const result = await one.ok('state.get', { namespace: [] })
    equal('values', at(result, 'values'), at(state, 'values'))
    equal('checkpoint.id', at(result, 'checkpoint', 'id'), checkpointOf(state))
  },
  async 'commands.state-get.parts'({ thread }) {
    const one = thread()
    await one.finish()
    for (const keys of [['messages'], ['no-such-key'], []]) {
      const values = at(await one.ok('state.get', { namespace: [], keys }), 'values')
      equal('the keys', Object.keys(values as object), keys.slice(0, keys[0] === 'messages' ? 1 : 0))
    }
    await one.refused(['no_such_namespace'], 'state.get', { namespace: ['no-such-namespace:1'] })
  },
  async 'commands.list-checkpoints'({ thread }) {
    const one = thread()
    const { state } = await one.finish()
    const list = async (params: object) => {
      const found = at(await one.ok('state.listCheckpoints', params), 'checkpoints')
      hold('checkpoints', Array.isArray(found), 'a list', found)
      return found.map((checkpoint) => at(checkpoint, 'id'))
    }
    const all = await list({ namespace: [] })
    equal('the newest', all[0], checkpointOf(state))
    equal('one before it', await list({ limit: 1, before: all[0] }), all.slice(1, 2))
  },
  async 'commands.get-tree'({ thread }) {
    const one = thread()
    const { runIds } = await one.run()
    const tree = at(await one.ok('agent.getTree', { run_id: runIds[0] }), 'tree')
    equal('the tree', [at(tree, 'namespace'), at(tree, 'status')], [[], 'completed'])
  },
  async 'commands.fork'({ thread }) {
    const one = thread()
    const { stream, state } = await one.finish()
    const checkpoint_id = checkpointOf(state)
    const run_id = at(await one.ok('state.fork', { checkpoint_id, input: null }), 'run_id')
    hold('run_id', typeof run_id === 'string', 'text', run_id)
    await stream.until('the fork', (events) => events.filter(isRoot).length > 3)
    const history = await one.request('POST', '/history', { body: { limit: 100 } })
    mentions('the history after the fork', history.body, JSON.stringify(checkpoint_id))
  },
  async 'commands.inject'({ thread }) {
    const one = thread()
    await one.finish()
    await one.ok('input.inject', { namespace: [], message: { role: 'user', content: 'By the way.' } })
    const messages = messagesOf(at(await one.idle(), 'values'))
    equal('the last message', at(messages.at(-1), 'content'), 'By the way.')
  },
  async 'commands.no-thread'({ thread }) {
    const one = thread()
    for (const method of ['state.get', 'state.listCheckpoints', 'agent.getTree'])
      await one.refused(['no_such_run'], method, { namespace: [] })
    equal('the status of the state', await one.status('GET', '/state'), 404)
  },
  async 'commands.camel-case'({ thread, assistantId }) {
    const one = thread()
    await one.ok('run.start', { assistant_id: undefined, assistantId })
    const unknown = { assistant_id: undefined, assistantId: 'no-such-assistant' }
    await one.refused(['invalid_argument'], 'run.start', unknown)
  },
  async 'commands.run-start.bound'({ thread, agents }) {
    const one = thread()
    await one.run()
    await one.refused(['invalid_argument'], 'run.start', { assistant_id: agents.tools })
  },
}

export const commandRules = /* @__PURE__ */ rulesOf(RULES, checks)
