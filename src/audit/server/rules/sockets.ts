import { equal, hold } from '../../check.ts'
import { ALL, at, hasEnded, idsOf, rootStates, sentOf } from '../events.ts'
import { PYTHON_CLIENT, protocol, rules, SCHEMA, STREAM_CLIENT } from '../rule.ts'

const { must, should } = rules({ source: protocol('websocket'), needs: 'webSocketFactory' })

const NO_COMMANDS = ['', '{"id":1,', '7', '[]', '{"method":"run.start"}']

export const socketRules = [
  must('sockets.path', 'GET /threads/{id}/stream is a web socket', async ({ thread }) => {
    await (await thread().socket({ path: '/stream' })).subscribe()
  }),
  should(
    'sockets.path.events',
    'GET /threads/{id}/stream/events is the same web socket',
    async ({ thread }) => {
      await (await thread().socket({ path: '/stream/events' })).subscribe()
    },
    { source: STREAM_CLIENT },
  ),
  must(
    'sockets.unauthenticated',
    'The web socket of a caller without credentials is refused',
    async ({ thread }) => {
      const one = thread()
      const opened = await one.socket({ headers: {} }).catch((error) => error)
      hold('the handshake without credentials', opened instanceof Error, 'a refusal', 'an open web socket')
      await (await one.socket()).subscribe()
    },
    { needs: ['webSocketFactory', 'headers'] },
  ),
  must(
    'sockets.commands',
    'A web socket takes commands, answers them, and carries the events of its subscription',
    async ({ thread }) => {
      const one = thread()
      const socket = await one.socket()
      await socket.subscribe()
      await socket.ok('run.start', one.runParams)
      const events = await socket.until('the end of the run', hasEnded(1))
      const late = await (await one.stream()).until('the end of the run', hasEnded(1))
      equal('the events over the web socket', sentOf(events), sentOf(late))
    },
  ),
  must(
    'sockets.unknown-command',
    'An unknown command over a web socket is refused with unknown_command',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      const answer = await (await one.socket()).command('no.such.command')
      equal('the error', at(answer, 'error'), 'unknown_command')
    },
    { source: SCHEMA },
  ),
  must(
    'sockets.malformed',
    'A message that is no command is answered with an error whose id is null, and the web socket goes on',
    async ({ thread }) => {
      const socket = await thread().socket()
      for (const [index, text] of NO_COMMANDS.entries()) {
        socket.send(text)
        const answer = await socket.answer(index)
        equal(`the type of the answer to ${text}`, at(answer, 'type'), 'error')
        equal(`the id of the answer to ${text}`, at(answer, 'id'), null)
      }
      await socket.subscribe()
    },
    { source: SCHEMA },
  ),
  must(
    'sockets.answer-first',
    'A subscription is answered before its first event',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      const socket = await one.socket()
      const subscribed = socket.subscribe()
      await socket.until('the end of the run', hasEnded(1))
      await subscribed
      equal('the type of the first message', at(socket.messages[0], 'type'), 'success')
    },
    { source: STREAM_CLIENT },
  ),
  must(
    'sockets.before-thread',
    'A subscription may be opened before its thread exists, and gets all events of the first run, whoever starts it',
    async ({ thread }) => {
      const one = thread()
      const socket = await one.socket()
      await socket.subscribe()
      await one.start()
      const events = await socket.until('the end of the run', hasEnded(1))
      equal('the states', rootStates(events), ['running', 'completed'])
      const late = await (await one.stream()).until('the end of the run', hasEnded(1))
      equal('the events', idsOf(events), idsOf(late))
    },
    { source: PYTHON_CLIENT },
  ),
  must(
    'sockets.replay',
    'A subscription to a thread that has runs gets what a new stream gets, then all that comes, without a hole',
    async ({ thread }) => {
      const one = thread()
      await one.run(2)
      const stream = await one.stream()
      const socket = await one.socket()
      await socket.subscribe()
      await socket.until('the end of the newest run', hasEnded(1))
      await socket.ok('run.start', one.runParams)
      const [events, others] = await Promise.all(
        [socket, stream].map((reader) => reader.until('the end of the next run', hasEnded(2))),
      )
      equal('the events over the web socket', sentOf(events!), sentOf(others!))
    },
    { source: protocol('replay-and-reconnection') },
  ),
  must(
    'sockets.replay.midway',
    'A subscription in the middle of a run gets its beginning, then the rest',
    async ({ thread, agents }) => {
      const one = thread(agents.slow)
      await one.start()
      const stream = await one.stream()
      await stream.until('some events', (events) => events.length > 2)
      const socket = await one.socket()
      await socket.subscribe()
      const [events, others] = await Promise.all(
        [socket, stream].map((reader) => reader.until('the end of the run', hasEnded(1))),
      )
      equal('the events over the web socket', idsOf(events!), idsOf(others!))
    },
    { source: protocol('replay-and-reconnection'), needs: ['webSocketFactory', 'slow'] },
  ),
  must(
    'sockets.since',
    'since of a subscription gives exactly the later events, of all runs',
    async ({ thread }) => {
      const one = thread()
      const { events } = await one.run(2)
      for (const index of [0, events.length >> 1, events.length - 2]) {
        const { seq } = events[index]!
        const rest = events.slice(index + 1)
        const socket = await one.socket()
        await socket.subscribe({ since: seq })
        const seen = await socket.until(`the events after ${seq}`, (some) => some.length >= rest.length)
        equal(`the events after ${seq}`, sentOf(seen), sentOf(rest))
        await socket.close()
      }
    },
    { source: PYTHON_CLIENT },
  ),
  should(
    'sockets.filter-alone',
    'A filter without a command around it is a subscription, too, and gets nothing but its events',
    async ({ thread }) => {
      const one = thread()
      const { events } = await one.run()
      const socket = await one.socket()
      socket.send({ channels: ALL, since: events[0]!.seq })
      await socket.until('the end of the run', hasEnded(1))
      equal('what came', socket.messages, sentOf(events.slice(1)))
    },
    { source: PYTHON_CLIENT },
  ),
  must(
    'sockets.unsubscribe',
    'A subscription that was ended gets nothing more, and the others of its web socket go on',
    async ({ thread }) => {
      const one = thread()
      const socket = await one.socket()
      const whole = await socket.subscribe()
      await socket.subscribe({ channels: ['lifecycle'] })
      await socket.ok('run.start', one.runParams)
      const before = (await socket.until('the end of the run', hasEnded(1))).length
      await socket.ok('subscription.unsubscribe', { subscription_id: whole })
      await socket.ok('run.start', one.runParams)
      const events = await socket.until('the end of the second run', hasEnded(2))
      const methods = new Set(events.slice(before).map(({ method }) => method))
      equal('the methods of what came after', [...methods], ['lifecycle'])
    },
  ),
  should(
    'sockets.unsubscribe.unknown',
    'A subscription that is not there cannot be ended: no_such_subscription',
    async ({ thread }) => {
      const socket = await thread().socket()
      const answer = await socket.command('subscription.unsubscribe', { subscription_id: 'none' })
      equal('the error', at(answer, 'error'), 'no_such_subscription')
    },
    { source: SCHEMA },
  ),
  should(
    'sockets.once',
    'An event that several subscriptions of a web socket want is sent once',
    async ({ thread }) => {
      const one = thread()
      const socket = await one.socket()
      await socket.subscribe()
      await socket.subscribe({ channels: ['lifecycle', 'messages'] })
      await socket.ok('run.start', one.runParams)
      const ids = idsOf(await socket.until('the end of the run', hasEnded(1)))
      equal(
        'the repeated ids',
        ids.filter((id, index) => ids.indexOf(id) !== index),
        [],
      )
    },
    { source: STREAM_CLIENT },
  ),
  should(
    'sockets.reconnect',
    'subscription.reconnect goes on with a subscription of another web socket, right after the last event',
    async ({ thread }) => {
      const one = thread()
      const first = await one.socket()
      const id = await first.subscribe()
      const run_id = at(await first.ok('run.start', one.runParams), 'run_id')
      const events = await first.until('the end of the run', hasEnded(1))
      await first.close()
      const second = await one.socket()
      const last_event_id = events[1]!.event_id
      const params = { run_id, last_event_id, subscriptions: [id] }
      equal('restored', at(await second.ok('subscription.reconnect', params), 'restored'), true)
      const seen = await second.until('the end of the run', hasEnded(1))
      equal(`the events after ${last_event_id}`, sentOf(seen), sentOf(events.slice(2)))
    },
    { source: protocol('replay-and-reconnection') },
  ),
  must(
    'sockets.apart',
    'The end of one web socket leaves the others of its thread as they are',
    async ({ thread }) => {
      const one = thread()
      const [leaving, staying] = [await one.socket(), await one.socket()]
      for (const socket of [leaving, staying]) await socket.subscribe()
      await leaving.close()
      await staying.ok('run.start', one.runParams)
      const events = await staying.until('the end of the run', hasEnded(1))
      equal('the states', rootStates(events), ['running', 'completed'])
    },
    { source: STREAM_CLIENT },
  ),
]
