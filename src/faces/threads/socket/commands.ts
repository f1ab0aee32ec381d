import { type AgentEngine, type RunTree, readTree } from '../../../engine/index.ts'
import type { FaceCall } from '../../kit/routes.ts'
import { parse } from '../commands/command.ts'
import type { TransportCommands } from '../commands/dispatch.ts'
import { ProtocolError } from '../errors.ts'
import { reconnectSchema, streamSchema, unsubscribeSchema } from '../wire.ts'
import { subscriptionRequest } from './subscription-request.ts'
import { filterOf, type Subscribing, type Subscriptions } from './subscriptions.ts'

/**
 * The commands about a socket's subscriptions. Functions passed to `later` run after the answer was sent,
 * because clients expect it before the events.
 */
export function subscriptionCommands(
  engine: AgentEngine,
  { threadId, principal, request }: Pick<FaceCall, 'threadId' | 'principal' | 'request'>,
  subscriptions: Subscriptions,
  later: (start: () => void) => void,
): TransportCommands {
  const asked = async (params: unknown) => subscriptionRequest(parse(streamSchema, params), request)
  const open = async (subscribing: Subscribing): Promise<string> => {
    const { id, start } = await subscriptions.open(subscribing)
    later(start)
    return id
  }
  return new Map([
    [
      'subscription.subscribe',
      async (params: unknown) => ({ result: { subscription_id: await open(await asked(params)) } }),
    ],
    [
      'subscription.unsubscribe',
      async (params: unknown) => {
        const { subscription_id } = parse(unsubscribeSchema, params)
        if (subscriptions.close(subscription_id)) return { result: {} }
        throw new ProtocolError('no_such_subscription', 'This socket has no subscription with this id.')
      },
    ],
    [
      'subscription.reconnect',
      async (params: unknown) => {
        const { run_id, last_event_id, subscriptions: ids = [] } = parse(reconnectSchema, params)
        const thread = await engine.findThread({ threadId, principal })
        const tree = thread && (await readTree(engine, thread, run_id))
        if (!tree) throw new ProtocolError('no_such_run', 'Run not found on this thread.')
        const filters = new Map(ids.map((id) => [id, filterOf(id)]))
        const restored = [...filters.values()].every((filter) => filter !== undefined)
        if (restored) {
          // All subscriptions are read before one is opened, so that an invalid one prevents all.
          const all = await Promise.all(
            [...filters].map(async ([id, filter]) => ({ ...(await asked(filter)), id })),
          )
          subscriptions.admit(all.map(({ id }) => id))
          for (const one of all) await open({ ...one, lastEventId: last_event_id })
        }
        return { result: { restored, current_namespaces: namespacesOf(tree) } }
      },
    ],
  ])
}

const namespacesOf = ({ namespace, status, children }: RunTree): readonly object[] => [
  { namespace, status },
  ...children.flatMap(namespacesOf),
]
