import { equal, hold } from '../../check.ts'
import type { AuditThread } from '../context.ts'
import { ALL, at, idsOf, rootStates, sentOf } from '../events.ts'
import { agree, resumes, unrepeated } from '../expect.ts'
import { type Checks, PYTHON_CLIENT, protocol, rules, rulesOf, SCHEMA, STREAM_CLIENT } from '../rule.ts'
import type { AuditSocket } from '../socket.ts'

const WEBSOCKET = protocol('websocket')
const { must, should } = rules(WEBSOCKET, 'webSocketFactory')

const NO_COMMANDS = ['', '{"id":1,', '7', '[]', '{"method":"run.start"}']

const RULES = {
  'sockets.path': must('GET /threads/{id}/stream is a web socket'),
  'sockets.path.events': should('GET /threads/{id}/stream/events is the same web socket', STREAM_CLIENT),
  'sockets.unauthenticated': must(
    'The web socket of a caller without credentials is refused',
    WEBSOCKET,
    'webSocketFactory',
    'headers',
  ),
  'sockets.commands': must(
    'A web socket takes commands, answers them, and carries the events of its subscription',
  ),
  'sockets.unknown-command': must(
    'An unknown command over a web socket is refused with unknown_command',
    SCHEMA,
  ),
  'sockets.malformed': must(
    'A message that is no command is answered with an error whose id is null, and the web socket goes on',
    SCHEMA,
  ),
  'sockets.answer-first': must('A subscription is answered before its first event', STREAM_CLIENT),
  'sockets.before-thread': must(
    'A subscription may be opened before its thread exists, and gets all events of the first run, whoever starts it',
    PYTHON_CLIENT,
  ),
  'sockets.replay': must(
    'A subscription to a thread that has runs gets what a new stream gets, then all that comes, without a hole',
    protocol('replay-and-reconnection'),
  ),
  'sockets.replay.midway': must(
    'A subscription in the middle of a run gets its beginning, then the rest',
    protocol('replay-and-reconnection'),
    'webSocketFactory',
    'slow',
  ),
  'sockets.since': must('since of a subscription gives exactly the later events, of all runs', PYTHON_CLIENT),
  'sockets.filter-alone': should(
    'A filter without a command around it is a subscription, too, and gets nothing but its events',
    PYTHON_CLIENT,
  ),
  'sockets.unsubscribe': must(
    'A subscription that was ended gets nothing more, and the others of its web socket go on',
  ),
  'sockets.unsubscribe.unknown': should(
    'A subscription that is not there cannot be ended: no_such_subscription',
    SCHEMA,
  ),
  'sockets.once': should(
    'An event that several subscriptions of a web socket want is sent once',
    STREAM_CLIENT,
  ),
  'sockets.reconnect': should(
    'subscription.reconnect goes on with a subscription of another web socket, right after the last event',
    protocol('replay-and-reconnection'),
  ),
  'sockets.apart': must(
    'The end of one web socket leaves the others of its thread as they are',
    STREAM_CLIENT,
  ),
}

const checks: Checks<keyof typeof RULES> = {
  async 'sockets.path'({ thread }) {
    await (await thread().socket({ path: '/stream' })).subscribe()
  },
  async 'sockets.path.events'({ thread }) {
    await (await thread().socket({ path: '/stream/events' })).subscribe()
  },
  async 'sockets.unauthenticated'({ thread }) {
    const one = thread()
    const opened = await one.socket({ headers: {} }).catch((error) => error)
    hold('the handshake without credentials', opened instanceof Error, 'a refusal', 'an open web socket')
    await (await one.socket()).subscribe()
  },
  async 'sockets.commands'({ thread }) {
    const one = thread()
    const socket = await subscribed(one)
    await socket.ok('run.start', one.runParams)
    const events = await socket.untilEnd()
    equal('the events over the web socket', sentOf(events), sentOf(await one.replay()))
  },
  async 'sockets.unknown-command'({ thread }) {
    const one = thread()
    await one.run()
    const answer = await (await one.socket()).command('no.such.command')
    equal('the error', at(answer, 'error'), 'unknown_command')
  },
  async 'sockets.malformed'({ thread }) {
    const socket = await thread().socket()
    for (const [index, text] of NO_COMMANDS.entries()) {
      socket.send(text)
      const answer = await socket.answer(index)
      equal(`the type of the answer to ${text}`, at(answer, 'type'), 'error')
      equal(`the id of the answer to ${text}`, at(answer, 'id'), null)
    }
    await socket.subscribe()
  },
  async 'sockets.answer-first'({ thread }) {
    const one = thread()
    await one.run()
    const socket = await one.socket()
    const answered = socket.subscribe()
    await socket.untilEnd()
    await answered
    equal('the type of the first message', at(socket.messages[0], 'type'), 'success')
  },
  async 'sockets.before-thread'({ thread }) {
    const one = thread()
    const socket = await subscribed(one)
    await one.start()
    const events = await socket.untilEnd()
    equal('the states', rootStates(events), ['running', 'completed'])
    equal('the events', idsOf(events), idsOf(await one.replay()))
  },
  async 'sockets.replay'({ thread }) {
    const one = thread()
    await one.run(2)
    const stream = await one.stream()
    const socket = await subscribed(one)
    await socket.untilEnd()
    await socket.ok('run.start', one.runParams)
    await agree([stream, socket], 2)
  },
  async 'sockets.replay.midway'({ thread, agents }) {
    const one = thread(agents.slow)
    const stream = await one.begin()
    await stream.until('some events', (events) => events.length > 2)
    await agree([stream, await subscribed(one)], 1, idsOf)
  },
  async 'sockets.since'({ thread }) {
    const one = thread()
    const { events } = await one.run(2)
    await resumes(events, ({ seq }) => subscribed(one, { since: seq }))
  },
  async 'sockets.filter-alone'({ thread }) {
    const one = thread()
    const { events } = await one.run()
    const socket = await one.socket()
    socket.send({ channels: ALL, since: events[0]!.seq })
    await socket.untilEnd()
    equal('what came', socket.messages, sentOf(events.slice(1)))
  },
  async 'sockets.unsubscribe'({ thread }) {
    const one = thread()
    const socket = await one.socket()
    const whole = await socket.subscribe()
    await socket.subscribe({ channels: ['lifecycle'] })
    await socket.ok('run.start', one.runParams)
    const before = (await socket.untilEnd()).length
    await socket.ok('subscription.unsubscribe', { subscription_id: whole })
    await socket.ok('run.start', one.runParams)
    const events = await socket.untilEnd(2)
    const methods = new Set(events.slice(before).map(({ method }) => method))
    equal('the methods of what came after', [...methods], ['lifecycle'])
  },
  async 'sockets.unsubscribe.unknown'({ thread }) {
    const socket = await thread().socket()
    const answer = await socket.command('subscription.unsubscribe', { subscription_id: 'none' })
    equal('the error', at(answer, 'error'), 'no_such_subscription')
  },
  async 'sockets.once'({ thread }) {
    const one = thread()
    const socket = await subscribed(one)
    await socket.subscribe({ channels: ['lifecycle', 'messages'] })
    await socket.ok('run.start', one.runParams)
    unrepeated(await socket.untilEnd())
  },
  async 'sockets.reconnect'({ thread }) {
    const one = thread()
    const first = await one.socket()
    const id = await first.subscribe()
    const run_id = at(await first.ok('run.start', one.runParams), 'run_id')
    const events = await first.untilEnd()
    await first.close()
    const second = await one.socket()
    const last_event_id = events[1]!.event_id
    const params = { run_id, last_event_id, subscriptions: [id] }
    equal('restored', at(await second.ok('subscription.reconnect', params), 'restored'), true)
    const seen = await second.untilEnd()
    equal(`the events after ${last_event_id}`, sentOf(seen), sentOf(events.slice(2)))
  },
  async 'sockets.apart'({ thread }) {
    const one = thread()
    const [leaving, staying] = [await subscribed(one), await subscribed(one)]
    await leaving.close()
    await staying.ok('run.start', one.runParams)
    const events = await staying.untilEnd()
    equal('the states', rootStates(events), ['running', 'completed'])
  },
}

export const socketRules = /* @__PURE__ */ rulesOf(RULES, checks)

/** A web socket with a subscription to every channel, or to those of a filter. */
async function subscribed(one: AuditThread, filter?: object): Promise<AuditSocket> {
  const socket = await one.socket()
  await socket.subscribe({ ...filter })
  return socket
}
