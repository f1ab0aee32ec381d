import { equal, hold } from '../../check.ts'
import { at, isRoot, listOf } from '../events.ts'
import { protocol, rules, SCHEMA, STREAM_CLIENT, THREAD_CLIENT } from '../rule.ts'

const { must, should } = rules({ source: protocol('top-level-framing') })

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

export const commandRules = [
  must('commands.run-start.returns-run-id', 'run.start answers success with a run_id', async ({ thread }) => {
    await thread().start()
  }),
  must(
    'commands.id.echoed',
    'An answer has the id of its command',
    async ({ thread, request, assistantId, input }) => {
      for (const id of [0, 7, 2 ** 31]) {
        const body = { id, method: 'run.start', params: { assistant_id: assistantId, input: input('Hello') } }
        const answer = await request('POST', `/threads/${thread().id}/commands`, { body })
        equal('the status', answer.status, 200)
        equal('the id', at(answer.body, 'id'), id)
      }
    },
  ),
  should(
    'commands.id.text',
    'The id of a command may be text',
    async ({ thread }) => {
      const sent = { body: { id: 'mine', method: 'no.such.command', params: {} } }
      equal('the id', at((await thread().request('POST', '/commands', sent)).body, 'id'), 'mine')
    },
    { source: STREAM_CLIENT },
  ),
  should(
    'commands.meta.given',
    'The answer to run.start says in meta which thread it is about and where its events begin',
    async ({ thread }) => {
      const one = thread()
      const answer = await one.command('run.start')
      equal('meta.thread_id', at(answer, 'meta', 'thread_id'), one.id)
      const applied = at(answer, 'meta', 'applied_through_seq')
      hold('meta.applied_through_seq', Number.isSafeInteger(applied), 'a whole number', applied)
    },
  ),
  must(
    'commands.meta.not-ahead',
    'applied_through_seq, where it is given, is before the first event of the run',
    async ({ thread }) => {
      const one = thread()
      const { stream } = await one.run()
      const applied = at(await one.command('run.start'), 'meta', 'applied_through_seq')
      const events = await stream.until(
        'the start of the second run',
        (seen) => seen.filter(isRoot).length > 2,
      )
      const first = events.filter(isRoot)[2]!
      if (applied !== undefined)
        hold('applied_through_seq', Number(applied) < first.seq, `less than ${first.seq}`, applied)
    },
    { source: STREAM_CLIENT },
  ),
  must(
    'commands.unknown',
    'An unknown command is refused with unknown_command and status 200',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      for (const method of ['no.such.command', 'RUN.START', '__proto__'])
        await one.refused(['unknown_command'], method, {})
    },
  ),
  must('commands.malformed', 'A body that is no command is refused with status 400', async ({ thread }) => {
    for (const body of MALFORMED) {
      const { status } = await thread().request('POST', '/commands', { body })
      equal(`the status of ${body || 'an empty body'}`, status, 400)
    }
  }),
  should(
    'commands.malformed.envelope',
    'What is no command gets the error of the protocol, with a null id',
    async ({ thread }) => {
      for (const body of ['{"id":1,', '[]', '{"method":"run.start"}']) {
        const answer = await thread().request('POST', '/commands', { body })
        const { type, id, error } = (answer.body ?? {}) as Readonly<Record<string, unknown>>
        equal(
          `the answer to ${body}`,
          { type, id, error },
          { type: 'error', id: null, error: 'invalid_argument' },
        )
      }
    },
    { source: SCHEMA },
  ),
  must(
    'commands.refused.no-thread',
    'A command that is refused makes no thread',
    async ({ thread }) => {
      const one = thread()
      await one.command('no.such.command', {})
      await one.refused(['invalid_argument'], 'run.start', { assistant_id: 7 })
      equal('the status of the state', (await one.request('GET', '/state')).status, 404)
    },
    { source: protocol('threads-runs-and-input') },
  ),
  must(
    'commands.run-start.unknown-assistant',
    'An unknown assistant is refused with invalid_argument',
    async ({ thread }) => {
      await thread().refused(['invalid_argument'], 'run.start', { assistant_id: 'no-such-assistant' })
    },
    { source: SCHEMA },
  ),
  must(
    'commands.run-start.state-at-once',
    'Once run.start has answered, the state is there with an object in values',
    async ({ thread }) => {
      const one = thread()
      await one.start()
      const values = at(await one.state(), 'values')
      hold('values', typeof values === 'object' && values !== null, 'an object', values)
    },
    { source: STREAM_CLIENT },
  ),
  should(
    'commands.run-start.unknown-checkpoint',
    'A run from a checkpoint that is not there is refused with no_such_checkpoint',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      const config = { configurable: { checkpoint_id: '1ef00000-0000-6000-8000-000000000000' } }
      await one.refused(['no_such_checkpoint'], 'run.start', { config })
    },
    { source: SCHEMA },
  ),
  should(
    'commands.state-get',
    'state.get gives the values and the checkpoint of the state',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      const state = await one.idle()
      const result = await one.ok('state.get', { namespace: [] })
      equal('values', at(result, 'values'), at(state, 'values'))
      equal('checkpoint.id', at(result, 'checkpoint', 'id'), at(state, 'checkpoint', 'checkpoint_id'))
    },
    { source: protocol('state-and-checkpoints') },
  ),
  should(
    'commands.state-get.parts',
    'state.get gives the keys that are asked for, and refuses a namespace that is not there',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      await one.idle()
      for (const keys of [['messages'], ['no-such-key'], []]) {
        const values = at(await one.ok('state.get', { namespace: [], keys }), 'values')
        equal('the keys', Object.keys(values as object), keys.slice(0, keys[0] === 'messages' ? 1 : 0))
      }
      await one.refused(['no_such_namespace'], 'state.get', { namespace: ['no-such-namespace:1'] })
    },
    { source: SCHEMA },
  ),
  should(
    'commands.list-checkpoints',
    'state.listCheckpoints gives checkpoints newest first, by pages',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      const state = await one.idle()
      const list = async (params: object) => {
        const found = at(await one.ok('state.listCheckpoints', params), 'checkpoints')
        hold('checkpoints', Array.isArray(found), 'a list', found)
        return found.map((checkpoint) => at(checkpoint, 'id'))
      }
      const all = await list({ namespace: [] })
      equal('the newest', all[0], at(state, 'checkpoint', 'checkpoint_id'))
      equal('one before it', await list({ limit: 1, before: all[0] }), all.slice(1, 2))
    },
    { source: protocol('state-and-checkpoints') },
  ),
  should(
    'commands.get-tree',
    'agent.getTree gives the root and how its run ended',
    async ({ thread }) => {
      const one = thread()
      const { runIds } = await one.run()
      const tree = at(await one.ok('agent.getTree', { run_id: runIds[0] }), 'tree')
      equal('the tree', [at(tree, 'namespace'), at(tree, 'status')], [[], 'completed'])
    },
    { source: SCHEMA },
  ),
  should(
    'commands.fork',
    'state.fork runs on from an earlier checkpoint',
    async ({ thread }) => {
      const one = thread()
      const { stream } = await one.run()
      const checkpoint_id = at(await one.idle(), 'checkpoint', 'checkpoint_id')
      const run_id = at(await one.ok('state.fork', { checkpoint_id, input: null }), 'run_id')
      hold('run_id', typeof run_id === 'string', 'text', run_id)
      await stream.until('the fork', (events) => events.filter(isRoot).length > 3)
      const history = await one.request('POST', '/history', { body: { limit: 100 } })
      hold(
        'the history after the fork',
        JSON.stringify(history.body).includes(JSON.stringify(checkpoint_id)),
        `the checkpoint ${checkpoint_id}`,
        history.body,
      )
    },
    { source: THREAD_CLIENT },
  ),
  should(
    'commands.inject',
    'input.inject adds a message to the state of an idle thread',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      await one.idle()
      await one.ok('input.inject', { namespace: [], message: { role: 'user', content: 'By the way.' } })
      const contents = listOf(at(await one.idle(), 'values', 'messages')).map((message) =>
        at(message, 'content'),
      )
      equal('the last message', contents.at(-1), 'By the way.')
    },
    { source: SCHEMA },
  ),
  should(
    'commands.no-thread',
    'Commands about a thread that is not there are refused with no_such_run',
    async ({ thread }) => {
      const one = thread()
      for (const method of ['state.get', 'state.listCheckpoints', 'agent.getTree'])
        await one.refused(['no_such_run'], method, { namespace: [] })
      equal('the status of the state', (await one.request('GET', '/state')).status, 404)
    },
    { source: SCHEMA },
  ),
  should(
    'commands.camel-case',
    'Params are also read as the specification spells them, in camelCase',
    async ({ thread, assistantId }) => {
      const one = thread()
      await one.ok('run.start', { assistant_id: undefined, assistantId })
      await one.refused(['invalid_argument'], 'run.start', {
        assistant_id: undefined,
        assistantId: 'no-such-assistant',
      })
    },
  ),
  should(
    'commands.run-start.bound',
    'A thread stays with the assistant of its first run',
    async ({ thread, agents }) => {
      const one = thread()
      await one.run()
      await one.refused(['invalid_argument'], 'run.start', { assistant_id: agents.tools })
    },
    { source: STREAM_CLIENT, needs: 'tools' },
  ),
]
