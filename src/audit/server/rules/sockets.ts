import { equal, hold } from '../../check.ts'
import type { AuditThread } from '../context.ts'
import { ALL, at, idsOf, rootStates, sentOf } from '../events.ts'
import {
  agree,
  type Checks,
  PYTHON_CLIENT,
  protocol,
  resumes,
  rules,
  rulesOf,
  SCHEMA,
  STREAM_CLIENT,
  unrepeated,
} from '../rule.ts'
import type { AuditSocket } from '../socket.ts'

const WEBSOCKET = protocol('websocket')
const { must, should } = rules(WEBSOCKET, 'webSocketFactory')

const NO_COMMANDS = ['', '{"id":1,', '7', '[]', '{"method":"run.start"}']

const RULES = {
  'sockets.path': must('GET /threads/{id}/stream is a web socket'),
  'sockets.path.events': should('GET /threads/{id}/stream/events is the same web socket', STREAM_CLIENT),
  'sockets.unauthenticated': must(
    'A web socket without credentials is rejected',
    WEBSOCKET,
    'webSocketFactory',
    'headers',
  ),
  'sockets.commands': must(
    'A web socket accepts commands, responds to them, and carries the events of its subscription',
  ),
  'sockets.unknown-command': must(
    'An unknown command over a web socket is rejected with unknown_command',
    SCHEMA,
  ),
  'sockets.malformed': must(
    'A message that is not a command gets an error with a null id, and the web socket stays open',
    SCHEMA,
  ),
  'sockets.answer-first': must('The response to a subscription comes before its first event', STREAM_CLIENT),
  'sockets.before-thread': must(
    'A subscription can be opened before its thread exists, and receives all events of the first run, whichever client starts it',
    PYTHON_CLIENT,
  ),
  'sockets.replay': must(
    'A subscription to a thread with runs receives what a new stream receives, then all new events, without a gap',
    protocol('replay-and-reconnection'),
  ),
  'sockets.replay.midway': must(
    'A subscription that opens during a run receives its earlier events, then the rest',
    protocol('replay-and-reconnection'),
    'webSocketFactory',
    'slow',
  ),
  'sockets.since': must(
    'since of a subscription returns exactly the later events, of all runs',
    PYTHON_CLIENT,
  ),
  'sockets.filter-alone': should(
    'A bare filter, without a command around it, is also a subscription, and receives only its events',
    PYTHON_CLIENT,
  ),
  'sockets.unsubscribe': must(
    "After unsubscribing, a subscription receives no more events, and the socket's other subscriptions continue",
  ),
  'sockets.unsubscribe.unknown': should(
    'Unsubscribing an unknown subscription is rejected with no_such_subscription',
    SCHEMA,
  ),
  'sockets.once': should(
    'An event that matches several subscriptions of a web socket is sent once',
    STREAM_CLIENT,
  ),
  'sockets.reconnect': should(
    "subscription.reconnect continues another web socket's subscription right after the last event",
    protocol('replay-and-reconnection'),
  ),
  'sockets.apart': must(
    "Closing one web socket does not affect the thread's other web sockets",
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

/** A web socket with a subscription. Default filter: every channel. */
async function subscribed(one: AuditThread, filter?: object): Promise<AuditSocket> {
  const socket = await one.socket()
  await socket.subscribe({ ...filter })
  return socket
}
